"""The floor: what comes to mind by itself in a turn bears on the message, or does not come.

Whatever is recalled is the best that a companion has; for "hey" there is a best as well. So the floor is absolute: it
compares what a memory has in common with the message with what any text would have in common with it, before anything
is standardised within the companion and before a scoring policy has its say. Set on three conversations of LoCoMo and
tried on two others and on MemoryBank (docs/recall.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from memory.recall.bm25 import WordMatch
from memory.recall.candidates import CandidateSet
from memory.recall.neighbours import Values
from memory.recall.query import Cue
from memory.recall.small_talk import tells_something
from memory.recall.traits import Trait

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


def measure_bearing(
    cue: Cue, words: WordMatch, candidates: CandidateSet, everyday: float, near_days: Values
) -> Values:
    """Return how much each of the n candidates bears on the cue, 0 to 1: the mean of what words and meaning say.

    Words decide alone where a memory has no vector. `everyday` is the cosine that everyday sentences have with the cue;
    `near_days` (n) goes to 1 on a past day that the cue names. What only asks or makes small talk bears on nothing.
    """
    likeness = candidates.likeness
    in_words, tells_anything = _share_of_words(cue, words)
    in_meaning = np.maximum(likeness - everyday, 0) / max(1 - everyday, 1e-6)
    bearing = np.where(np.isnan(likeness), in_words, (in_words + in_meaning) / 2)
    bearing = bearing if tells_anything else np.zeros(len(bearing))
    bearing = np.maximum(bearing, near_days * (SURE if cue.is_question else LIKELY))
    return np.where(candidates.index.traits & Trait.TELLS_NOTHING, 0, bearing)


def apply_floor(bearing: Values, fit: Values, can_come: NDArray[np.bool_], limit: int) -> Floor:
    """Return which of those that can come may come by themselves.

    Where one is sure, those come that bear on the cue at all: the three that fit best, and of the others those that fit
    at least half as well as the best. Else the likely ones come, two at most.
    """
    if not (can_come & (bearing >= SURE)).any():
        return Floor(bearing, can_come & (bearing >= LIKELY), min(limit, MAX_LIKELY))
    is_above = can_come & (bearing >= LEAST)
    fits = np.sort(fit[is_above])[::-1]
    least = min(SHARE_OF_BEST * fits[0], fits[min(ALWAYS, len(fits)) - 1])
    return Floor(bearing, is_above & (fit >= least), limit)


def _share_of_words(cue: Cue, words: WordMatch) -> tuple[Values, bool]:
    """Return how much of what the cue says each memory says too, 0 to 1, small talk left out; and whether it says any.

    A term's weight is its rarity (as BM25's) as a share of that of a term that was never heard; where little was said
    yet, everything else is thought to have been said as well.
    """
    n = len(words.scores)
    telling = _find_telling(cue, words.terms)
    if not telling or not n:
        return np.zeros(n), False
    frequency = words.is_said[:, telling].sum(axis=0)
    texts = n + OTHER_TEXTS
    weights = np.log1p((texts - frequency + 0.5) / (frequency + 0.5)) / log(2 * texts + 2)
    said, common = float(weights.sum()), words.saturated[:, telling] @ weights
    return np.minimum(common / min(said, MAX_TERMS), 1) * (said / (said + FEW_TERMS)), True


def _find_telling(cue: Cue, terms: Sequence[str]) -> list[int]:
    """Return the places of the terms that say what the cue is about: no small talk, and not that it is about today."""
    of_today = f"@{cue.asked_at:%Y-%m-%d}"
    every = enumerate(terms)
    return [n for n, term in every if term != of_today and (term in cue.names or tells_something(term))]
