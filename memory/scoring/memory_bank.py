"""MemoryBank's forgetting curve as its paper has it: e^(−t/S), where S starts at 1 and grows by 1 with each recall."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import ClassVar

from memory.scoring.remembered import MOST_DAYS, Remembered, require


def retention(idle: float, recalls: int) -> float:
    """The share, 0 to 1, that is still there `idle` units after the last recall: the stronger, the more."""
    return exp(-idle / (1 + recalls))


@dataclass(frozen=True, slots=True)
class MemoryBank:
    """Likeness (never below 0) × retention. Where the paper forgets for good, this only scores."""

    unit_days: float = 1.0

    name: ClassVar[str] = "memory_bank"

    def __post_init__(self) -> None:
        require("unit_days", self.unit_days, 0.001, MOST_DAYS)

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """From 0 to 1, or None without an embedding."""
        return [None if row.likeness is None else max(row.likeness, 0) * self.left(row) for row in rows]

    def left(self, row: Remembered) -> float:
        """The retention, 0 to 1."""
        return retention(row.idle_days / self.unit_days, row.recalls)
