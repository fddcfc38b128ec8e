"""What a scoring policy is, what it looks at in a candidate memory, and Kith's own policy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import exp, log1p, prod, tanh
from typing import ClassVar, Protocol, Self

DAY = timedelta(days=1)
MAX_DAYS = 4_000_000.0  # more than Python's calendar holds
MAX_FIT = 1e6
MAX_COUNT = 1_000_000_000
BOUNDS = {
    "fit": (-MAX_FIT, MAX_FIT),
    "age_days": (0, MAX_DAYS),
    "idle_days": (0, MAX_DAYS),
    "recalls": (0, MAX_COUNT),
    "importance": (1, 10),
    "joy": (0, 1),
    "aversion": (0, 1),
    "evidence": (1, MAX_COUNT),
}
UNKNOWN_GAP_DAYS = 1  # a recall at an unknown time counts as one after a day

# Kith's own policy: small factors decide between equals; five times as much cost a hit in every hundred questions.
RECENCY = RETENTION = 0.01
EMOTION = 0.05
IMPORTANCE = 0.1
EVIDENCE = 0.05
MONTH_DAYS = 30.0
USUAL_IMPORTANCE = 5
MAX_WEIGHT = 0.3  # of one factor: together, the factors stay above 0 and never outdo the fit


def require(name: str, value: float, least: float, most: float) -> None:
    """Raise ValueError unless the value lies from least to most; NaN never does."""
    if not least <= value <= most:
        raise ValueError(f"{name} must be a number from {least:g} to {most:g}, not {value}.")


def days_between(earlier: datetime, later: datetime) -> float:
    """Return the days from `earlier` to `later`, never below 0, since clocks differ a little."""
    return max((later - earlier) / DAY, 0.0)


@dataclass(frozen=True, slots=True)
class Remembered:
    """One candidate memory as policies see it. Raise ValueError if a number is outside of its range.

    `fit` is Kith's own relevance, in standard deviations above the companion's average memory; `likeness` is a
    cosine, None without an embedding. `age_days` count since it happened, `idle_days` since it was last recalled or,
    if it never was, since it was learnt. `gaps_days`, oldest first, lie between learning and the first recall, and
    between recalls; there are fewer than `recalls` if some are unknown. `importance` is 1 to 10, and usually 5.
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
            require("likeness", self.likeness, -1.01, 1.01)  # beyond ±1, since vectors are rounded
        for name, bounds in BOUNDS.items():
            require(name, getattr(self, name), *bounds)
        require("the number of gaps_days", len(self.gaps_days), 0, self.recalls)
        for gap in self.gaps_days:
            require("gaps_days", gap, 0, MAX_DAYS)

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
        """Return the memory as it was at `now`, computed from these times; recalls after `now` do not count."""
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


class Policy(Protocol):
    """A scoring policy. It scores all candidates of a recall at once, as some policies compare them with each other.

    What it looks at is in `Remembered`. It promises that neither a recall nor a better fit ever weakens a memory, that
    time alone never strengthens one, and that the order of the rows does not matter.
    """

    @property
    def name(self) -> str:
        """The name that is stored as a companion's choice."""

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """Return a finite score for each row, in their order, higher is better; None if it does not come to mind."""

    def left(self, row: Remembered) -> float:
        """Return what forgetting has left of the memory, as the score counts it: 1 when fresh, 0 when gone."""


def relevance(fit: float) -> float:
    """Return softplus, ln(1 + e^fit): never below 0, so that a factor above 1 also raises what does not fit."""
    return max(fit, 0) + log1p(exp(-abs(fit)))


def fading(days: float, half_days: float) -> float:
    """Return a share falling from 1 towards 0, a half after `half_days`: a hyperbola, which still tells years apart."""
    return 1 / (1 + days / half_days)


def consolidation(row: Remembered, unit_days: float = 1.0) -> float:
    """Return Hou's g (memory.scoring.policies.Hou), at least 1: each recall adds tanh(gap / 2)."""
    unknown = row.recalls - len(row.gaps_days)
    known = sum(tanh(gap / unit_days / 2) for gap in row.gaps_days)
    return 1 + known + unknown * tanh(UNKNOWN_GAP_DAYS / unit_days / 2)


def retention(row: Remembered, month_days: float = MONTH_DAYS) -> float:
    """Return the share that is left: a half after a month, and later by a month for each well-spaced recall."""
    return fading(row.idle_days, month_days * consolidation(row))


@dataclass(frozen=True, slots=True)
class Kith:
    """The default policy: how well a memory fits, times small factors, which together stay between 0.9 and 1.24.

    Adding instead would let a barely related memory overtake the right one. `mood` (−1 to 1) is the companion's, which
    favours what felt alike. `month_days` is the half-life of a memory that is never recalled; the other fields are how
    much each factor may move a score.
    """

    mood: float = 0.0
    month_days: float = MONTH_DAYS
    recency: float = RECENCY
    retention: float = RETENTION
    emotion: float = EMOTION
    importance: float = IMPORTANCE
    evidence: float = EVIDENCE

    name: ClassVar[str] = "kith"

    def __post_init__(self) -> None:
        require("mood", self.mood, -1, 1)
        require("month_days", self.month_days, 0.001, MAX_DAYS)
        for name in ("recency", "retention", "emotion", "importance", "evidence"):
            require(name, getattr(self, name), 0, MAX_WEIGHT)

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """Return scores from 0 up, never None: whatever was found may come to mind."""
        return [relevance(row.fit) * prod(self.factors(row).values()) for row in rows]

    def factors(self, row: Remembered) -> dict[str, float]:
        """Return the factors of the relevance, which are told as reasons; the last three are 1 for an ordinary memory.

        By default: recency 0.99 to 1.01, 1 after a month; retention likewise; emotion 1 to 1.05; importance 0.92 to
        1.1; evidence 1 to 1.05. Emotion counts half of the stronger feeling; in a mood like it all of it, in the
        opposite mood none.
        """
        feeling = (max(row.joy, row.aversion) + self.mood * (row.joy - row.aversion)) / 2
        return {
            "recency": 1 + self.recency * (2 * fading(row.age_days, self.month_days) - 1),
            "retention": 1 + self.retention * (2 * self.left(row) - 1),
            "emotion": 1 + self.emotion * feeling,
            "importance": 1 + self.importance * (row.importance - USUAL_IMPORTANCE) / USUAL_IMPORTANCE,
            "evidence": 1 + self.evidence * (1 - 1 / row.evidence),
        }

    def left(self, row: Remembered) -> float:
        """Return the retention, 0 to 1."""
        return retention(row, self.month_days)
