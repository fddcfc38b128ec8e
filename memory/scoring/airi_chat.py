"""AIRI's recall in chats: likeness, and a little for what is recent. The age counts in days, as was meant there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memory.scoring.remembered import MOST_DAYS, Remembered, require

LIKENESS = 1.2
RECENCY = 0.2


@dataclass(frozen=True, slots=True)
class AiriChat:
    """1.2 × likeness + 0.2 × (1 − age / 30 days, never below 0), above a likeness of 0.5.

    Where AIRI takes the best three, the limit of the recall decides here.
    """

    floor: float = 0.5
    month_days: float = 30.0

    name: ClassVar[str] = "airi_chat"

    def __post_init__(self) -> None:
        require("floor", self.floor, -1, 1)
        require("month_days", self.month_days, 0.001, MOST_DAYS)

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """From 1.2 × floor to 1.4, or None."""
        return [self._score(row) for row in rows]

    def _score(self, row: Remembered) -> float | None:
        if row.likeness is None or row.likeness <= self.floor:
            return None
        return LIKENESS * row.likeness + RECENCY * self.left(row)

    def left(self, row: Remembered) -> float:
        """From 1 down to 0, which it is after a month."""
        return max(1 - row.age_days / self.month_days, 0)
