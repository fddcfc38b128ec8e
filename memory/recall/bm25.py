"""Words in common: BM25 with one companion's own statistics, over what a memory says and what was said around it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.recall.neighbours import Talks, Values, smooth_over_neighbours
from memory.recall.packed_index import PackedIndex, hash_term

SATURATION = 0.6  # BM25's k1: how soon a repeated word stops counting more; low, for neighbours repeat words
LENGTH = 0.4  # BM25's b: how much a long memory is held back
# The shares of words said before and after: four each side, a little more of what came before, for answers refer to it.
BEFORE, AFTER = (0.5, 0.3, 0.2, 0.1), (0.4, 0.2, 0.1, 0.05)


@dataclass(frozen=True, slots=True)
class WordMatch:
    """For n memories and t terms: BM25 `scores` (n), the `rarity` of each term (t), whether each memory says it (n, t),
    and how fully, 0 to 1, with its neighbours' shares (n, t).
    """

    scores: Values
    terms: Sequence[str]
    rarity: Values
    is_said: NDArray[np.bool_]
    saturated: Values

    def matched(self, place: int) -> list[str]:
        """Return the terms that the memory in this place says itself, the rarest first."""
        said: list[int] = np.flatnonzero(self.is_said[place]).tolist()
        return [self.terms[n] for n in sorted(said, key=lambda n: (-self.rarity[n], self.terms[n]))]

    def share(self, place: int) -> float:
        """Return the score in this place as a share, 0 to 1, of what would say every term without end."""
        most = float(self.rarity.sum())
        return float(self.scores[place]) / most if most else 0.0


def match_words(terms: Sequence[str], index: PackedIndex, talks: Talks) -> WordMatch:
    """Return BM25 (Robertson and Zaragoza 2009) of the terms; counts of neighbours saturate together with its own."""
    n = len(talks)
    if not terms or not n:
        return WordMatch(np.zeros(n), [], np.zeros(0), np.zeros((n, 0), dtype=np.bool_), np.zeros((n, 0)))
    counts = index.count_terms([hash_term(term) for term in terms])
    is_said = counts > 0
    frequency = is_said.sum(axis=0)
    rarity = np.log1p((n - frequency + 0.5) / (frequency + 0.5))
    counts = smooth_over_neighbours(counts, talks, BEFORE, AFTER)
    lengths = smooth_over_neighbours(np.maximum(index.lengths, 1).astype(np.float64), talks, BEFORE, AFTER)
    slack = SATURATION * (1 - LENGTH + LENGTH * lengths / lengths.mean())
    saturated = counts / (counts + slack[:, np.newaxis])
    return WordMatch(saturated @ rarity, terms, rarity, is_said, saturated)
