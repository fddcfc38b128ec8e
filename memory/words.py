"""Words in common: BM25 with one companion's own statistics, over what a memory says and what was said around it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory.entries import Entries, code
from memory.surroundings import Places, Surroundings, Values

SATURATION = 0.6  # BM25's k1: how soon a repeated word stops counting more; low, for neighbours repeat words
LENGTH = 0.4  # BM25's b: how much a long memory is held back
# The shares of words said before and after: four each side, a little more of what came before, for answers refer to it.
BEFORE, AFTER = (0.5, 0.3, 0.2, 0.1), (0.4, 0.2, 0.1, 0.05)


@dataclass(frozen=True, slots=True)
class Words:
    """For n memories: BM25 scores, and for t terms how rare each is and who says it.

    `saturated` (n, t) is how fully each memory says each term, 0 to 1; `said` holds, rising, place × t + the term's
    number for each memory and term that it says.
    """

    scores: Values
    terms: Sequence[str]
    rarity: Values
    said: Places
    saturated: Values

    @classmethod
    def of(cls, terms: Sequence[str], entries: Entries, around: Surroundings) -> "Words":
        """BM25 (Robertson and Zaragoza 2009) of the terms, counts of neighbours saturating together with its own."""
        n = len(entries.times)
        if not terms or not n:
            return cls(np.zeros(n), [], np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros((n, 0)))
        t, (places, numbers) = len(terms), entries.having([code(term) for term in terms])
        said = np.sort(places * t + numbers)
        said = said[np.diff(said, prepend=-1) > 0]
        frequency = np.bincount(said % t, minlength=t)
        rarity = np.log1p((n - frequency + 0.5) / (frequency + 0.5))
        counts = around.lent_by_few(places, numbers, t, BEFORE, AFTER)
        lengths = around.lent(np.maximum(entries.lengths, 1).astype(np.float64), BEFORE, AFTER)
        slack = SATURATION * (1 - LENGTH + LENGTH * lengths / lengths.mean())
        saturated = counts / (counts + slack[:, np.newaxis])
        return cls(saturated @ rarity, terms, rarity, said, saturated)

    def matched(self, place: int) -> list[str]:
        """The terms that the memory in this place says itself, the rarest first."""
        first, end = np.searchsorted(self.said, np.array((place, place + 1)) * len(self.terms))
        has = [int(n) % len(self.terms) for n in self.said[first:end]]
        return [self.terms[n] for n in sorted(has, key=lambda n: (-self.rarity[n], self.terms[n]))]

    def share(self, place: int) -> float:
        """The score in this place as a share, 0 to 1, of what would say every term without end."""
        most = float(self.rarity.sum())
        return float(self.scores[place]) / most if most else 0.0
