"""The recall probability of Hou, Tamoto and Miyashita 2024.

p = (1 − exp(−r × e^(−t/g))) / (1 − e^(−1)), with r the relevance and t the time since the last recall; g starts at 1
and each recall adds tanh(gap / 2): what is recalled at growing intervals stays. The unit of time decides everything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, tanh
from typing import ClassVar

from memory.scoring.remembered import MOST_DAYS, Remembered, require

UNKNOWN_GAP_DAYS = 1.0


def consolidation(row: Remembered, unit_days: float = 1.0) -> float:
    """g, 1 and above. A recall of which the time is not known counts as one after a day."""
    unknown = row.recalls - len(row.gaps_days)
    known = sum(tanh(gap / unit_days / 2) for gap in row.gaps_days)
    return 1 + known + unknown * tanh(UNKNOWN_GAP_DAYS / unit_days / 2)


def probability(row: Remembered, unit_days: float = 1.0) -> float:
    """p from 0 to 1; a likeness below 0, or none, counts as 0."""
    relevance = min(max(row.likeness or 0, 0), 1)
    left = exp(-row.idle_days / unit_days / consolidation(row, unit_days))
    return (1 - exp(-relevance * left)) / (1 - exp(-1))


@dataclass(frozen=True, slots=True)
class Hou:
    """p where it reaches the threshold, else nothing. The defaults are the paper's, with a day for a unit."""

    unit_days: float = 1.0
    threshold: float = 0.86

    name: ClassVar[str] = "hou"

    def __post_init__(self) -> None:
        require("unit_days", self.unit_days, 0.001, MOST_DAYS)
        require("threshold", self.threshold, 0, 1)

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """From the threshold to 1, or None."""
        probabilities = [probability(row, self.unit_days) for row in rows]
        return [
            p if row.likeness is not None and p >= self.threshold else None
            for row, p in zip(rows, probabilities, strict=True)
        ]

    def left(self, row: Remembered) -> float:
        """p from 0 to 1 for a cue that could not fit better."""
        return probability(replace(row, likeness=1.0), self.unit_days)
