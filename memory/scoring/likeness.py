"""Likeness alone: the plainest policy, and what the others are measured against."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memory.scoring.remembered import Remembered


@dataclass(frozen=True, slots=True)
class Likeness:
    """The cosine; what has no embedding does not come to mind."""

    name: ClassVar[str] = "likeness"

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """Cosines, or None."""
        return [row.likeness for row in rows]

    def left(self, row: Remembered) -> float:
        """1: nothing is forgotten."""
        return 1.0
