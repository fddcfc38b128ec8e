"""What a scoring policy looks at in one candidate memory, all of it computed when read."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from operator import attrgetter, le
from typing import Self

DAY = timedelta(days=1)
MOST_DAYS = 4_000_000.0  # more than Python's calendar holds
MOST_FIT = 1e6
MOST_TIMES = 1_000_000_000
BOUNDS = {
    "fit": (-MOST_FIT, MOST_FIT),
    "age_days": (0, MOST_DAYS),
    "idle_days": (0, MOST_DAYS),
    "recalls": (0, MOST_TIMES),
    "importance": (1, 10),
    "joy": (0, 1),
    "aversion": (0, 1),
    "evidence": (1, MOST_TIMES),
}
LEAST, MOST = zip(*BOUNDS.values(), strict=True)
BOUNDED = attrgetter(*BOUNDS)


def require(name: str, value: float, least: float, most: float) -> None:
    """Raise ValueError unless the value lies from least to most; NaN never does."""
    if not least <= value <= most:
        raise ValueError(f"{name} must be a number from {least:g} to {most:g}, not {value}.")


def days_between(earlier: datetime, later: datetime) -> float:
    """Days, never below 0: clocks differ a little."""
    return max((later - earlier) / DAY, 0.0)


@dataclass(frozen=True, slots=True)
class Remembered:
    """One candidate memory as policies see it; ValueError where a number lies outside of its range.

    `fit` is Kith's own relevance, in standard deviations above the companion's average memory; `likeness` is a
    cosine, None without an embedding. `age_days` count since it happened, `idle_days` since it was last recalled,
    else since it was learnt. `gaps_days`, oldest first, lie between learning and the first recall, and between
    recalls; it may be shorter than `recalls` where they are not known. `importance` goes from 1 to 10, 5 is usual.
    """

    fit: float
    likeness: float | None
    age_days: float
    idle_days: float
    recalls: int = 0
    gaps_days: tuple[float, ...] = ()
    importance: int = 5
    joy: float = 0.0
    aversion: float = 0.0
    evidence: int = 1

    def __post_init__(self) -> None:
        if self.likeness is not None:
            require("likeness", self.likeness, -1.01, 1.01)  # vectors are rounded
        told = BOUNDED(self)
        if not (all(map(le, LEAST, told)) and all(map(le, told, MOST))):  # a hundred are made in each recall
            for name, bounds in BOUNDS.items():
                require(name, getattr(self, name), *bounds)
        if self.gaps_days:
            require("the number of gaps_days", len(self.gaps_days), 0, self.recalls)
            for gap in self.gaps_days:
                require("gaps_days", gap, 0, MOST_DAYS)

    @classmethod
    def at(
        cls,
        now: datetime,
        *,
        happened_at: datetime,
        learnt_at: datetime,
        recalled_at: Iterable[datetime] = (),
        fit: float,
        likeness: float | None,
        importance: int = 5,
        joy: float = 0.0,
        aversion: float = 0.0,
        evidence: int = 1,
    ) -> Self:
        """The same from moments, as it was at `now`; recalls after that had not been yet."""
        times = [learnt_at, *sorted(at for at in recalled_at if at <= now)]
        return cls(
            fit=fit,
            likeness=likeness,
            age_days=days_between(happened_at, now),
            idle_days=days_between(times[-1], now),
            recalls=len(times) - 1,
            gaps_days=tuple(days_between(*pair) for pair in pairwise(times)),
            importance=importance,
            joy=joy,
            aversion=aversion,
            evidence=evidence,
        )
