"""What stands around a memory in its talk, and what neighbours lend each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.entries import Entries

Values = NDArray[np.float64]
Places = NDArray[np.int64]

APART_SECONDS = 3600.0  # a longer silence begins another talk


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Which talk each of n memories, in the order of time, belongs to; without `reach` neighbours lend nothing."""

    talks: NDArray[np.int64]
    reach: bool

    @classmethod
    def of(cls, entries: Entries, *, reach: bool) -> "Surroundings":
        """Talks are what lies within an hour of the next."""
        gaps = np.diff(entries.times, prepend=entries.times[:1])
        return cls(np.cumsum(gaps > APART_SECONDS), reach)

    @property
    def is_next(self) -> NDArray[np.bool_]:
        """(n-1): whether a memory and the next are of the same talk."""
        same: NDArray[np.bool_] = self.talks[1:] == self.talks[:-1]
        return same

    def lent(self, values: Values, before: Sequence[float], after: Sequence[float]) -> Values:
        """(n,) or (n, k) values, with a share of those that stand so many places before and after in the same talk."""
        total = values.copy()
        if not self.reach:
            return total
        for steps, (share_before, share_after) in enumerate(zip(before, after, strict=True), start=1):
            if steps >= len(values):
                break
            same = self.talks[steps:] == self.talks[:-steps]
            same = same.reshape(-1, *[1] * (values.ndim - 1))
            total[steps:] += share_before * values[:-steps] * same
            total[:-steps] += share_after * values[steps:] * same
        return total

    def lent_by_few(
        self, rows: Places, columns: Places, width: int, before: Sequence[float], after: Sequence[float]
    ) -> Values:
        """The same of (n, width) counts, given as the row and the column of each that is counted: a fifth of the time."""
        reach = len(before) if self.reach else 0
        talks, own = np.pad(self.talks, reach, constant_values=-1), self.talks[rows]
        places, shares = [rows * width + columns], [np.ones(len(rows))]
        for steps, both in zip(range(1, reach + 1), zip(before, after, strict=True), strict=False):
            for away, share in zip((steps, -steps), both, strict=True):
                heirs = places[0][talks[rows + (reach + away)] == own] + away * width
                places.append(heirs)
                shares.append(np.full(len(heirs), share))
        n = len(self.talks)
        lent = np.bincount(np.concatenate(places), np.concatenate(shares), n * width)
        return lent.astype(np.float64, copy=False).reshape(n, width)

    def best_of_talk(self, values: Values) -> Values:
        """For each memory the best value of its talk."""
        if not len(values):
            return values
        starts = np.flatnonzero(np.diff(self.talks, prepend=-1))
        return np.maximum.reduceat(values, starts)[self.talks]
