"""Kith's own policy: how well a memory fits, times small factors.

An addition would let a barely related memory overtake the right one; all factors together stay between 0.9 and 1.24.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log1p, prod
from typing import ClassVar

from memory.scoring.hou import consolidation
from memory.scoring.remembered import MOST_DAYS, Remembered, require

RECENCY = RETENTION = 0.01  # decide between equals; five times as much cost a hit in every hundred questions
EMOTION = 0.05
IMPORTANCE = 0.1
EVIDENCE = 0.05
MONTH_DAYS = 30.0
USUAL_IMPORTANCE = 5
MOST_WEIGHT = 0.3  # of one factor: all together stay above 0 and never outdo what fits


def relevance(fit: float) -> float:
    """Softplus, ln(1 + e^fit): never below 0, so that a factor above 1 raises what does not fit too."""
    return max(fit, 0) + log1p(exp(-abs(fit)))


def fading(days: float, half_days: float) -> float:
    """From 1 down to 0, a half after `half_days`: a hyperbola, which still tells years apart."""
    return 1 / (1 + days / half_days)


def retention(row: Remembered, month_days: float = MONTH_DAYS) -> float:
    """The share, 0 to 1, that is still there: half after a month, and a month later for each well-spaced recall."""
    return fading(row.idle_days, month_days * consolidation(row))


@dataclass(frozen=True, slots=True)
class Kith:
    """The default. `mood` (−1 to 1) is the companion's: it brings to mind sooner what felt alike.

    A month is the half-life of what is never recalled; the others are how much each factor may move a score.
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
        require("month_days", self.month_days, 0.001, MOST_DAYS)
        for name in ("recency", "retention", "emotion", "importance", "evidence"):
            require(name, getattr(self, name), 0, MOST_WEIGHT)

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """From 0 up, never None: whatever was found may come to mind."""
        return [relevance(row.fit) * prod(self.factors(row).values()) for row in rows]

    def factors(self, row: Remembered) -> dict[str, float]:
        """What relevance is multiplied by, as reasons: the last three are 1 for a memory like any other.

        By default: recency 0.99 to 1.01, 1 after a month; retention likewise; emotion 1 to 1.05; importance 0.92 to
        1.1; evidence 1 to 1.05.
        """
        return {
            "recency": 1 + self.recency * (2 * fading(row.age_days, self.month_days) - 1),
            "retention": 1 + self.retention * (2 * self.left(row) - 1),
            "emotion": 1 + self.emotion * self._feeling(row),
            "importance": 1 + self.importance * (row.importance - USUAL_IMPORTANCE) / USUAL_IMPORTANCE,
            "evidence": 1 + self.evidence * (1 - 1 / row.evidence),
        }

    def left(self, row: Remembered) -> float:
        """The retention, 0 to 1."""
        return retention(row, self.month_days)

    def _feeling(self, row: Remembered) -> float:
        """How strongly it is felt, 0 to 1: half of the stronger feeling, all of it in a mood alike, none in the other."""
        return (max(row.joy, row.aversion) + self.mood * (row.joy - row.aversion)) / 2
