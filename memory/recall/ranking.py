"""From what fits to what comes to mind: the best, looked at closely, held apart, and scored by a policy; and the floor.

What comes to mind by itself in a turn bears on the message, or does not come. Whatever is recalled is the best that a
companion has; for "hey" there is a best as well. So the floor is absolute: it compares what a memory has in common with
the message with what any text would have in common with it, before anything is standardised within the companion and
before a scoring policy has its say. Set on three conversations of LoCoMo and tried on two others and on MemoryBank
(docs/recall.md).
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from math import log
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.models import Memory, Recalled
from memory.recall.candidates import CandidateSet, MemoryFilter
from memory.recall.query import Cue
from memory.recall.relevance import Relevance, Talks, Values, WordMatch, measure_nearness
from memory.recall.traits import Trait, tells_something
from memory.scoring import Policy, Remembered
from memory.scoring.policy import Kith

# What is read of a memory to look at it closely: not its text.
LOOKED_AT = [
    "is_pinned",
    "happened_at",
    "learnt_at",
    "importance",
    "joy",
    "aversion",
    "evidence",
    "times_recalled",
]
# So many are looked at closely, however few are wanted: a longer list begins with the shorter one.
MAX_FOUND = 100
PINNED = 0.5  # in standard deviations: decides between equals, never lifts what does not fit
DIVERSITY = 1.0  # what a memory loses where the next to it was picked before: it says much the same
SURE = 0.25  # a memory that bears so much on the cue answers it: then others that bear on it may come with it
LIKELY = 0.2  # where none is sure, what bears so much may come,
MAX_LIKELY = 2  # but no more than that
LEAST = 0.1  # of what comes with a sure one
ALWAYS = 3  # of those the best come anyway,
SHARE_OF_BEST = 0.5  # and the others fit at least half as well as the best
MAX_TERMS = 5.0  # a long message is about several things: this many rare words in common are as good as all
OTHER_TEXTS = 100
FEW_TERMS = 0.5  # a message that says hardly anything is matched by anything: so many rare words count half


@dataclass(frozen=True, slots=True)
class Floor:
    """Which of n memories may come to mind by themselves (`is_above`), how much each bears on the cue (0 to 1), and how
    many may come at most.
    """

    bearing: Values
    is_above: NDArray[np.bool_]
    limit: int


class Candidate(NamedTuple):
    """A memory that comes to mind, its score by the policy, and why."""

    id: UUID
    score: float
    reasons: dict[str, Any]


def measure_floor(cue: Cue, found: Relevance, candidates: CandidateSet, everyday: float, limit: int) -> Floor:
    """Return which of those that can come may come by themselves; `everyday` sentences have that cosine with the cue.

    Where one is sure, those come that bear on the cue at all: the three that fit best, and of the others those that fit
    at least half as well as the best. Else the likely ones come, two at most.
    """
    bearing = _measure_bearing(cue, found.words, candidates, everyday)
    if not (found.can_come & (bearing >= SURE)).any():
        return Floor(bearing, found.can_come & (bearing >= LIKELY), min(limit, MAX_LIKELY))
    is_above = found.can_come & (bearing >= LEAST)
    fits = np.sort(found.fit[is_above])[::-1]
    least = min(SHARE_OF_BEST * fits[0], fits[min(ALWAYS, len(fits)) - 1])
    return Floor(bearing, is_above & (found.fit >= least), limit)


def _measure_bearing(cue: Cue, words: WordMatch, candidates: CandidateSet, everyday: float) -> Values:
    """Return how much each of the n candidates bears on the cue, 0 to 1: the mean of what words and meaning say.

    Words decide alone where a memory has no vector. A past day that the cue names bears on what happened then. What only
    asks or makes small talk bears on nothing.
    """
    likeness = candidates.likeness
    in_words, tells_anything = _share_of_words(cue, words)
    in_meaning = np.maximum(likeness - everyday, 0) / max(1 - everyday, 1e-6)
    bearing = np.where(np.isnan(likeness), in_words, (in_words + in_meaning) / 2)
    bearing = bearing if tells_anything else np.zeros(len(bearing))
    near_days = measure_nearness(cue.past_days, candidates.index.times)
    bearing = np.maximum(bearing, near_days * (SURE if cue.is_question else LIKELY))
    return np.where(candidates.index.traits & Trait.TELLS_NOTHING, 0, bearing)


def _share_of_words(cue: Cue, words: WordMatch) -> tuple[Values, bool]:
    """Return how much of what the cue says each memory says too, 0 to 1, and whether it says any.

    Small talk is left out, and that it is about today. A term's weight is its rarity (as BM25's) as a share of that of a
    term that was never heard; where little was said yet, everything else is thought to have been said as well.
    """
    n, today = len(words.scores), f"@{cue.asked_at:%Y-%m-%d}"
    telling = [
        place
        for place, term in enumerate(words.terms)
        if term != today and (term in cue.names or tells_something(term))
    ]
    if not telling or not n:
        return np.zeros(n), False
    frequency = words.is_said[:, telling].sum(axis=0)
    texts = n + OTHER_TEXTS
    weights = np.log1p((texts - frequency + 0.5) / (frequency + 0.5)) / log(2 * texts + 2)
    said, common = float(weights.sum()), words.saturated[:, telling] @ weights
    return np.minimum(common / min(said, MAX_TERMS), 1) * (said / (said + FEW_TERMS)), True


def rank(
    candidates: CandidateSet,
    filters: MemoryFilter,
    found: Relevance,
    policy: Policy | None,
    now: datetime,
    page: slice,
    floor: Floor | None = None,
) -> list[Candidate]:
    """Return this page of what comes to mind, best first; two SQL queries, one where nothing was recalled before.

    Without a policy what fits best comes first. With a floor only what is above it.
    """
    by_fit = policy is None or isinstance(policy, Kith)
    values = found.fit if by_fit else np.nan_to_num(candidates.likeness, nan=-np.inf)
    places = best(values, floor.is_above if floor else found.can_come, MAX_FOUND)
    place_of = dict(zip(candidates.ids_of(places), places, strict=True))
    there = filters.narrow(Memory.objects.of(candidates.companion_id)).filter(pk__in=place_of).order_by()
    memories = {place_of[memory.pk]: memory for memory in there.only(*LOOKED_AT)}
    fits = {place: float(found.fit[place]) + PINNED * memory.is_pinned for place, memory in memories.items()}
    fits = diversify(fits, found.talks)
    recalled = [memory.pk for memory in memories.values() if memory.times_recalled]
    uses = _load_uses(candidates.companion_id, recalled) if recalled else {}
    rows = {
        place: Remembered.at(
            now,
            happened_at=memories[place].happened_at,
            learnt_at=memories[place].learnt_at,
            recalled_at=uses.get(memories[place].pk, ()),
            fit=fit,
            likeness=None if np.isnan(candidates.likeness[place]) else float(candidates.likeness[place]),
            importance=memories[place].importance,
            joy=memories[place].joy,
            aversion=memories[place].aversion,
            evidence=memories[place].evidence,
        )
        for place, fit in fits.items()
    }
    scores = policy.score(list(rows.values())) if policy else list(fits.values())
    scored = [(place, score) for place, score in zip(rows, scores, strict=True) if score is not None]
    scored.sort(key=lambda pair: (-pair[1], -fits[pair[0]], memories[pair[0]].pk))
    return [
        Candidate(
            memories[place].pk,
            score,
            explain(place, rows[place], found, policy, floor, is_pinned=memories[place].is_pinned),
        )
        for place, score in scored[page][: floor.limit if floor else None]
    ]


def best(values: Values, can_come: NDArray[np.bool_], most: int) -> list[int]:
    """Return the places of the highest values that can come to mind, best first."""
    values = np.where(can_come, values, -np.inf)
    top = np.argpartition(-values, most)[:most] if most < len(values) else np.arange(len(values))
    return [int(place) for place in top[np.argsort(-values[top], kind="stable")] if values[place] > -np.inf]


def diversify(fits: dict[int, float], talks: Talks) -> dict[int, float]:
    """Return the fits in the order of picking: whoever stands next to one that is picked already is held back."""
    left, picked = dict(sorted(fits.items())), {}
    while left:
        place = max(left, key=lambda place: left[place])
        picked[place] = left.pop(place)
        for other in (place - 1, place + 1):
            if other in left and talks[other] == talks[place]:
                left[other] -= DIVERSITY
    return picked


def explain(
    place: int,
    row: Remembered,
    found: Relevance,
    policy: Policy | None,
    floor: Floor | None,
    *,
    is_pinned: bool,
) -> dict[str, Any]:
    """Return why a memory came, in numbers: what memory.recall.recall tells."""
    parts = {name: round(float(values[place]), 3) for name, values in found.parts.items()}
    if is_pinned:
        parts["pinned"] = PINNED
    if held_back := round(row.fit - sum(parts.values()), 3):
        parts["spread"] = held_back
    factors = policy.factors(row) if isinstance(policy, Kith) else {}
    return {
        "likeness": None if row.likeness is None else round(row.likeness, 4),
        "words": round(found.words.share(place), 4),
        "matched": found.words.matched(place),
        "parts": {name: value for name, value in parts.items() if value},
        "factors": {name: round(value, 3) for name, value in factors.items()},
        **({"bearing": round(float(floor.bearing[place]), 3)} if floor else {}),
    }


def _load_uses(companion_id: UUID, ids: list[UUID]) -> dict[UUID, list[datetime]]:
    """Return when each of the memories was shown in a reply."""
    times: dict[UUID, list[datetime]] = defaultdict(list)
    events = Recalled.objects.of(companion_id).filter(memory__in=ids, is_used=True)
    for id, at in events.values_list("memory_id", "recall__at"):
        times[id].append(at)
    return times
