"""Ranking of candidates: how well each fits the cue, which may come to mind unasked, and the best of them.

The fit is a sum, in standard deviations, of words, meaning and the memory's neighbours in its talk, in the order of
time, which tell what it is about. The constants are few, round and have a reason; docs/recall.md shows what each stage
was worth.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, OuterRef, When
from numpy.typing import NDArray

from memory.models import Memory, Recalled
from memory.recall.candidates import CandidateSet, MemoryFilter, PackedIndex, hash_term
from memory.recall.query import Cue
from memory.recall.traits import SPEAKERS, Trait, tells_something
from memory.scoring import Policy, Remembered
from memory.scoring.policy import Kith

Values = NDArray[np.float64]
Talks = NDArray[np.int64]

# -- how well each fits the cue

SILENCE_SECONDS = 3600.0  # a longer silence begins another talk
SATURATION = 0.6  # BM25's k1: how soon a repeated word stops counting more; low, as neighbours repeat words
LENGTH_PENALTY = 0.4  # BM25's b: how much the score of a long memory is lowered
# The shares of words in the four memories before and after; a little more of those before, as answers refer to them.
BEFORE, AFTER = (0.5, 0.3, 0.2, 0.1), (0.4, 0.2, 0.1, 0.05)
AROUND = (0.5, 0.25)  # shares of the meaning of the two memories before, and of the two after
ANSWERS = 0.2  # the share of its own fit that a question lends to what the other says next
SPEAKER = 1.0
FIRST_PERSON = 0.75  # for memories in the first person: they say something worth remembering
QUESTION = -0.5  # for questions, which tell nothing
LENGTH = 0.15
NUMBER = 0.5
TIME = 0.5
DATES = 3.0  # a day that is named decides: nobody names one in passing
DAY_SECONDS = 86_400.0
AFTER_SECONDS = 7 * DAY_SECONDS  # things are told within days,
BEFORE_SECONDS = 2 * DAY_SECONDS  # and planned shortly before
TALK = 0.1  # the share of its best fit that a talk lends to all its memories


@dataclass(frozen=True, slots=True)
class WordMatch:
    """For n memories and t terms: the BM25 `scores` (n), the `rarity` of each term (t), whether each memory itself has
    it (`is_said`, n × t), and how fully, 0 to 1, with its neighbours' shares (`saturated`, n × t).
    """

    scores: Values
    terms: Sequence[str]
    rarity: Values
    is_said: NDArray[np.bool_]
    saturated: Values

    def matched(self, place: int) -> list[str]:
        """Return the terms that the memory in this place itself has, rarest first."""
        said: list[int] = np.flatnonzero(self.is_said[place]).tolist()
        return [self.terms[n] for n in sorted(said, key=lambda n: (-self.rarity[n], self.terms[n]))]

    def share(self, place: int) -> float:
        """Return the score in this place as a share, 0 to 1, of the highest score that is possible."""
        most = float(self.rarity.sum())
        return float(self.scores[place]) / most if most else 0.0


@dataclass(frozen=True, slots=True)
class Relevance:
    """For n memories in the order of time: `fit` in standard deviations, and the parts that it is the sum of.

    `can_come` tells which of them may be results and can be compared with the cue at all: they have a vector, a term of
    the cue (or their neighbours have), or are of a day that it names.
    """

    fit: Values
    parts: Mapping[str, Values]
    can_come: NDArray[np.bool_]
    words: WordMatch
    talks: Talks


def measure_relevance(cue: Cue, candidates: CandidateSet, *, by_content: bool = False) -> Relevance:
    """Return how well each of the candidates fits the cue. No model is asked.

    `by_content` looks only at what each says, not at who says it in which talk: a page of a document is no answer to
    the page before it, and no worse for asking something.
    """
    index, n = candidates.index, len(candidates)
    talks = np.arange(n) if by_content else split_into_talks(index.times)
    words = match_words(cue.terms, index, talks)
    parts = {"words": standardise(words.scores), "meaning": _measure_meaning(candidates, talks)}
    dates = measure_nearness(cue.days, index.times)

    def having(trait: Trait) -> Values:
        return (index.traits & trait > 0).astype(np.float64)

    if not by_content:
        parts["answers"] = ANSWERS * _lend_to_answers(parts["words"] + parts["meaning"], index.traits, talks)
        parts["speaker"] = SPEAKER * having(SPEAKERS[cue.speaker]) if cue.speaker else np.zeros(n)
        parts["questions"] = QUESTION * having(Trait.QUESTION)
        parts["first_person"] = FIRST_PERSON * having(Trait.FIRST_PERSON)
        parts["length"] = LENGTH * standardise(np.log1p(index.lengths.astype(np.float64)))
    if cue.asks_how_many:
        parts["numbers"] = NUMBER * having(Trait.NUMBER)
    if cue.asks_when:
        parts["times"] = TIME * having(Trait.TIME)
    parts["dates"] = DATES * dates
    fit = np.sum(list(parts.values()), axis=0)
    if not by_content:
        parts["talks"] = TALK * best_of_talk(fit, talks)
        fit = fit + parts["talks"]
    shares_anything = (words.scores > 0) | (dates == 1) | ~np.isnan(candidates.likeness)
    return Relevance(fit, parts, shares_anything & candidates.may_come, words, talks)


def standardise(values: Values) -> Values:
    """Return (values - mean) / standard deviation, or zeros if all values are equal. None may be NaN."""
    away = values - values.mean() if len(values) else values
    spread = np.sqrt(np.dot(away, away) / max(len(away), 1))
    units: Values = away / spread if spread else np.zeros(len(values))
    return units


def measure_nearness(days: Sequence[tuple[float, float]], times: Values) -> Values:
    """Return how near each of the times is to one of these days: 1 on a day, down to 0 away from it; 0 without days."""
    near = np.zeros(len(times))
    for begins, ends in days:
        after = np.maximum(times - ends, 0) / AFTER_SECONDS
        before = np.maximum(begins - times, 0) / BEFORE_SECONDS
        near = np.maximum(near, np.exp(-(after + before)))
    return near


def _measure_meaning(candidates: CandidateSet, talks: Talks) -> Values:
    """Return each memory's likeness, half by itself and half with its neighbours' shares, as they tell its context."""
    likeness = candidates.likeness
    is_known = ~np.isnan(likeness)
    if not is_known.any():
        return np.zeros(len(candidates))
    centred = np.where(is_known, likeness - likeness[is_known].mean(), 0)
    halves = standardise(centred) + standardise(smooth_over_neighbours(centred, talks, AROUND, AROUND))
    return halves * (is_known / 2)


def _lend_to_answers(alike: Values, traits: NDArray[np.int64], talks: Talks) -> Values:
    """Return what each memory gets from a fitting question right before it, asked by the other in the same talk."""
    lent = np.zeros(len(alike))
    is_question = (traits[:-1] & Trait.QUESTION) > 0
    is_other = ((traits[:-1] ^ traits[1:]) & (Trait.OF_USER | Trait.OF_COMPANION)) > 0
    lent[1:] = np.maximum(alike[:-1], 0) * (is_question & is_other & (talks[1:] == talks[:-1]))
    return lent


def match_words(terms: Sequence[str], index: PackedIndex, talks: Talks) -> WordMatch:
    """Return BM25 (Robertson and Zaragoza 2009) of the terms; neighbours' counts saturate together with one's own."""
    n = len(talks)
    if not terms or not n:
        return WordMatch(np.zeros(n), [], np.zeros(0), np.zeros((n, 0), dtype=np.bool_), np.zeros((n, 0)))
    counts = index.count_terms([hash_term(term) for term in terms])
    is_said = counts > 0
    frequency = is_said.sum(axis=0)
    rarity = np.log1p((n - frequency + 0.5) / (frequency + 0.5))
    counts = smooth_over_neighbours(counts, talks, BEFORE, AFTER)
    lengths = smooth_over_neighbours(np.maximum(index.lengths, 1).astype(np.float64), talks, BEFORE, AFTER)
    slack = SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * lengths / lengths.mean())
    saturated = counts / (counts + slack[:, np.newaxis])
    return WordMatch(saturated @ rarity, terms, rarity, is_said, saturated)


def split_into_talks(times: Values) -> Talks:
    """Return the number of the talk that each of the rising times belongs to; an hour of silence begins another."""
    return np.cumsum(np.diff(times, prepend=times[:1]) > SILENCE_SECONDS)


def smooth_over_neighbours(
    values: Values, talks: Talks, before: Sequence[float], after: Sequence[float]
) -> Values:
    """Return the values, (n,) or (n, k), each with shares of those that stand 1, 2, … places before and after it in its
    talk added.
    """
    total = values.copy()
    for steps, (share_before, share_after) in enumerate(zip(before, after, strict=True), start=1):
        if steps >= len(values):
            break
        is_same = (talks[steps:] == talks[:-steps]).reshape(-1, *[1] * (values.ndim - 1))
        total[steps:] += share_before * values[:-steps] * is_same
        total[:-steps] += share_after * values[steps:] * is_same
    return total


def best_of_talk(values: Values, talks: Talks) -> Values:
    """Return for each memory the best value of its talk."""
    if not len(values):
        return values
    starts = np.flatnonzero(np.diff(talks, prepend=-1))
    best: Values = np.maximum.reduceat(values, starts)[talks]
    return best


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
    and how many may come at most.
    """

    bearing: Values
    is_above: NDArray[np.bool_]
    limit: int


def measure_floor(cue: Cue, found: Relevance, candidates: CandidateSet, everyday: float, limit: int) -> Floor:
    """Return which of the found memories may come unasked; `everyday` is the cue's cosine with everyday sentences.

    If one is sure, those that bear on the cue at all may come: the three that fit best, and others that fit at least
    half as well as the best. Otherwise the likely ones may come, at most two.
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


class Candidate(NamedTuple):
    """A memory that comes to mind, its score by the policy, and why."""

    id: UUID
    score: float
    reasons: dict[str, Any]


class LookedAt(NamedTuple):
    """What is loaded of a memory to rank it; `uses` are the times at which replies used it."""

    id: UUID
    is_pinned: bool
    happened_at: datetime
    learnt_at: datetime
    importance: int
    joy: float
    aversion: float
    evidence: int
    uses: Sequence[datetime] | None


def find_best(
    candidates: CandidateSet, found: Relevance, policy: Policy | None, floor: Floor | None
) -> list[int]:
    """Return the places of the memories to be ranked: by fit without a policy or with Kith's own, else by likeness."""
    by_fit = policy is None or isinstance(policy, Kith)
    values = found.fit if by_fit else np.nan_to_num(candidates.likeness, nan=-np.inf)
    return best(values, floor.is_above if floor else found.can_come, MAX_FOUND)


def look_at(candidates: CandidateSet, filters: MemoryFilter, places: Collection[int]) -> dict[int, LookedAt]:
    """Load the memories in these places, by place; one SQL query."""
    place_of = dict(zip(candidates.ids_of(places), places, strict=True))
    there = filters.narrow(Memory.objects.of(candidates.companion_id)).filter(pk__in=place_of).order_by()
    shown = Recalled.objects.of(candidates.companion_id).filter(memory=OuterRef("pk"), is_used=True)
    uses = ArraySubquery(shown.order_by().values("recall__at"))
    rows = there.annotate(uses=Case(When(times_recalled__gt=0, then=uses))).values_list(*LookedAt._fields)
    return {place_of[row.id]: row for row in map(LookedAt._make, rows)}


def rank(
    places: Iterable[int],
    looked_at: Mapping[int, LookedAt],
    candidates: CandidateSet,
    found: Relevance,
    policy: Policy | None,
    now: datetime,
    most: int,
    floor: Floor | None = None,
) -> list[Candidate]:
    """Return at most `most` of the memories in these places, as they come to mind, best first; those that could not be
    loaded are left out.
    """
    memories = {place: looked_at[place] for place in places if place in looked_at}
    fits = {place: float(found.fit[place]) + PINNED * memory.is_pinned for place, memory in memories.items()}
    fits = diversify(fits, found.talks)
    rows = {
        place: Remembered.at(
            now,
            happened_at=memories[place].happened_at,
            learnt_at=memories[place].learnt_at,
            recalled_at=memories[place].uses or (),
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
    scored.sort(key=lambda pair: (-pair[1], -fits[pair[0]], memories[pair[0]].id))
    return [
        Candidate(
            memories[place].id,
            score,
            explain(place, rows[place], found, policy, floor, is_pinned=memories[place].is_pinned),
        )
        for place, score in scored[: min(most, floor.limit) if floor else most]
    ]


def best(values: Values, can_come: NDArray[np.bool_], most: int) -> list[int]:
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
