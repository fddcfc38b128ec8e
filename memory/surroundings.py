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
        self, values: Values, rows: Places, before: Sequence[float], after: Sequence[float]
    ) -> Values:
        """The same of (n, k) values of which none but these rows, each named once, hold any: a third of the time."""
        total = values.copy()
        if not self.reach:
            return total
        for steps, (share_before, share_after) in enumerate(zip(before, after, strict=True), start=1):
            for away, share in ((steps, share_before), (-steps, share_after)):
                lenders, heirs = self._in_talk(rows, away)
                total[heirs] += share * values[lenders]
        return total

    def _in_talk(self, rows: Places, away: int) -> tuple[Places, Places]:
        """Those of the rows for which one of the same talk stands so far away, and that one."""
        some = rows[(rows + away >= 0) & (rows + away < len(self.talks))]
        some = some[self.talks[some + away] == self.talks[some]]
        return some, some + away

    def best_of_talk(self, values: Values) -> Values:
        """For each memory the best value of its talk."""
        if not len(values):
            return values
        starts = np.flatnonzero(np.diff(self.talks, prepend=-1))
        return np.maximum.reduceat(values, starts)[self.talks]
