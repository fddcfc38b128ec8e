"""Recency + importance + relevance, as in the generative-agents work (Park et al. 2023)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memory.scoring.remembered import Remembered, require


def spread(values: Sequence[float]) -> list[float]:
    """The values stretched so that the least is 0 and the most is 1; a half each where all are the same."""
    least, most = min(values, default=0), max(values, default=0)
    return [(value - least) / (most - least) if most > least else 0.5 for value in values]


@dataclass(frozen=True, slots=True)
class GenerativeAgents:
    """The sum of three, each stretched to 0–1 over the rows: 0.99^days since the last recall, importance, likeness."""

    daily: float = 0.99

    name: ClassVar[str] = "generative_agents"

    def __post_init__(self) -> None:
        require("daily", self.daily, 0, 1)

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """From 0 to 3, or None without an embedding; those do not count in the stretching either."""
        known = [(row, row.likeness) for row in rows if row.likeness is not None]
        sums = map(
            sum,
            zip(
                spread([self.left(row) for row, _ in known]),
                spread([row.importance for row, _ in known]),
                spread([likeness for _, likeness in known]),
                strict=True,
            ),
        )
        return [None if row.likeness is None else next(sums) for row in rows]

    def left(self, row: Remembered) -> float:
        """From 1 down to 0: the same share of it goes each day without a recall."""
        return float(self.daily**row.idle_days)
