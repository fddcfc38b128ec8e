"""Ranking: which memories may come to mind unasked, and the best of them, by how well they fit the cue."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import log
from typing import Any, NamedTuple

import numpy as np
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, OuterRef, When
from numpy.typing import NDArray

from memory.models import Memory, Recalled
from memory.recall.candidates import CandidateSet, MemoryFilter
from memory.recall.query import Cue
from memory.recall.relevance import Relevance, Talks, Values, WordMatch, measure_nearness
from memory.recall.traits import Trait, tells_something
from memory.scoring import Policy, Remembered
from memory.scoring.policy import Kith

# -- the floor: a memory comes to mind unasked only if it bears on the message
#
# A recall always finds the best that a companion has, even for "hey". So the floor is absolute: it compares what a
# memory has in common with the message with what any text would have in common with it, before anything is standardised
# within the companion and before a scoring policy is applied. It was set on three conversations of LoCoMo, and tested
# on two others and on MemoryBank (docs/recall.md).

SURE = 0.25  # a memory that bears so much on the cue answers it: then others that bear on it may come with it
LIKELY = 0.2  # if none is sure, those that bear so much may come,
MAX_LIKELY = 2  # but no more than so many
LEAST = 0.1  # what those that come with a sure one must bear;
ALWAYS = 3  # the best of those come in any case,
SHARE_OF_BEST = 0.5  # and the others if they fit at least half as well as the best
MAX_TERMS = 5.0  # a long message is about several things: this many rare words in common are as good as all
OTHER_TEXTS = 100  # counted besides the memories, for companions that have few
FEW_TERMS = 0.5  # a message that says hardly anything is matched by anything: so many rare words count half


@dataclass(frozen=True, slots=True)
class Floor:
    """Which of n memories may come to mind unasked (`is_above`), how much each bears on the cue (`bearing`, 0 to 1),
    the `least` that it must bear, and how many may come at most.
    """

    bearing: Values
    is_above: NDArray[np.bool_]
    limit: int
    least: float


def measure_floor(cue: Cue, found: Relevance, candidates: CandidateSet, everyday: float, limit: int) -> Floor:
    """Return which of the found memories may come unasked; `everyday` is the cue's cosine with everyday sentences.

    If one is sure, those that bear on the cue at all may come: the three that fit best, and others that fit at least
    half as well as the best. Otherwise the likely ones may come, at most two.
    """
    bearing = _measure_bearing(cue, found.words, candidates, everyday)
    if not (found.can_come & (bearing >= SURE)).any():
        return Floor(bearing, found.can_come & (bearing >= LIKELY), min(limit, MAX_LIKELY), LIKELY)
    is_above = found.can_come & (bearing >= LEAST)
    fits = np.sort(found.fit[is_above])[::-1]
    least = min(SHARE_OF_BEST * fits[0], fits[min(ALWAYS, len(fits)) - 1])
    return Floor(bearing, is_above & (found.fit >= least), limit, LEAST)


def _measure_bearing(cue: Cue, words: WordMatch, candidates: CandidateSet, everyday: float) -> Values:
    """Return how much each of the n candidates bears on the cue, 0 to 1: the mean of what words and meaning say.

    Words alone decide if a memory has no vector. What happened on a past day that the cue names bears on it, and
    nothing else does if the cue says nothing. A memory that only asks or makes small talk bears on nothing.
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
    """Return how much of what the cue says each memory says too, 0 to 1, and whether the cue says anything.

    Small talk and today's date are left out. A term's weight is its rarity (as in BM25) as a share of the rarity of a
    term that was never said, among the memories and 100 other texts.
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


# -- the best of them: loaded, diversified, and scored by a policy

# So many are loaded and ranked, however few are wanted, so that a longer list begins with the shorter one.
MAX_FOUND = 100
PINNED = 0.5  # in standard deviations: decides between equals, never lifts what does not fit
DIVERSITY = 1.0  # what a memory loses if one next to it was picked before: the two say much the same


class Ranked(NamedTuple):
    """A memory that comes to mind, its score by the policy, and why."""

    memory: Memory
    score: float
    reasons: dict[str, Any]


def find_best(
    candidates: CandidateSet, found: Relevance, policy: Policy | None, floor: Floor | None
) -> list[int]:
    """Return the places of the memories to be ranked: by fit without a policy or with Kith's own, else by likeness."""
    by_fit = policy is None or isinstance(policy, Kith)
    values = found.fit if by_fit else np.nan_to_num(candidates.likeness, nan=-np.inf)
    return take_best(values, floor.is_above if floor else found.can_come, MAX_FOUND)


def load_at(candidates: CandidateSet, filters: MemoryFilter, places: Collection[int]) -> dict[int, Memory]:
    """Load the memories in these places, by place, with the times at which replies used each (`uses`); one SQL query."""
    place_of = dict(zip(candidates.ids_of(places), places, strict=True))
    there = filters.narrow(Memory.objects.of(candidates.companion_id)).filter(pk__in=place_of).order_by()
    shown = Recalled.objects.of(candidates.companion_id).filter(memory=OuterRef("pk"), is_used=True)
    uses = ArraySubquery(shown.order_by().values("recall__at"))
    rows = there.defer("entry").annotate(uses=Case(When(times_recalled__gt=0, then=uses)))
    return {place_of[memory.pk]: memory for memory in rows}


def rank(
    places: Iterable[int],
    loaded: Mapping[int, Memory],
    candidates: CandidateSet,
    found: Relevance,
    policy: Policy | None,
    now: datetime,
    most: int,
    floor: Floor | None = None,
) -> list[Ranked]:
    """Return at most `most` of the memories in these places, as they come to mind, best first; those that could not be
    loaded are left out.
    """
    memories = {place: loaded[place] for place in places if place in loaded}
    fits = {place: float(found.fit[place]) + PINNED * memory.is_pinned for place, memory in memories.items()}
    fits = diversify(fits, found.talks)
    rows = {
        place: Remembered.at(
            now,
            happened_at=memories[place].happened_at,
            learnt_at=memories[place].learnt_at,
            recalled_at=memories[place].uses or (),  # type: ignore[attr-defined]
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
        Ranked(
            memories[place],
            score,
            explain(place, rows[place], found, policy, floor, is_pinned=memories[place].is_pinned),
        )
        for place, score in scored[: min(most, floor.limit) if floor else most]
    ]


def take_best(values: Values, can_come: NDArray[np.bool_], most: int) -> list[int]:
    """Return the places of the `most` highest values among those that can come, best first."""
    values = np.where(can_come, values, -np.inf)
    top = np.argpartition(-values, most)[:most] if most < len(values) else np.arange(len(values))
    return [int(place) for place in top[np.argsort(-values[top], kind="stable")] if values[place] > -np.inf]


def diversify(fits: dict[int, float], talks: Talks) -> dict[int, float]:
    """Return the fits by place, in the order of picking: a memory next to one that is picked already loses fit."""
    left, picked = dict(sorted(fits.items())), {}
    while left:
        place = max(left, key=left.__getitem__)
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
    """Return why a memory came, in numbers: the reasons that `memory.recall.recall.recall` describes."""
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
