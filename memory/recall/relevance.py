"""Relevance: how well each memory fits the cue.

The fit is a sum, in standard deviations, of words, meaning and the memory's neighbours in its talk, in the order of
time, which tell what it is about. The constants are few, round and have a reason; docs/recall.md shows what each was
worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.recall.candidates import CandidateSet, PackedIndex, hash_term
from memory.recall.query import Cue
from memory.recall.traits import SPEAKERS, Trait

Values = NDArray[np.float64]
Talks = NDArray[np.int64]
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


def measure_relevance(cue: Cue, candidates: CandidateSet, *, by_content: bool) -> Relevance:
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
    counts = np.stack([smooth_over_neighbours(of_term, talks, BEFORE, AFTER) for of_term in counts.T], axis=1)
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
    """Return the n values, each with shares of those that stand 1, 2, … places before and after it in its talk added."""
    total = values.copy()
    for steps, (share_before, share_after) in enumerate(zip(before, after, strict=True), start=1):
        if steps >= len(values):
            break
        is_same = talks[steps:] == talks[:-steps]
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
