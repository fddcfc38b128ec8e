"""DigitalLife's rule: the few that are clearly alike, else the three likest, else nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from memory.scoring.remembered import Remembered, require


@dataclass(frozen=True, slots=True)
class DigitalLife:
    """Above `floor` a memory may come; where 1 to `few` are above `clear`, those alone do; else the likest `few`.

    What is exactly as like as the last of the few comes too, so that no order of the rows decides.
    """

    floor: float = 0.6
    clear: float = 0.7
    few: int = 3

    name: ClassVar[str] = "digital_life"

    def __post_init__(self) -> None:
        require("floor", self.floor, -1, 1)
        require("clear", self.clear, self.floor, 1)
        require("few", self.few, 1, 1000)

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """The cosine of those that come, None for the others."""
        known = (row.likeness for row in rows if row.likeness is not None)
        alike = sorted((likeness for likeness in known if likeness > self.floor), reverse=True)
        clear = sum(likeness > self.clear for likeness in alike)
        last = clear if 1 <= clear <= self.few else min(self.few, len(alike))
        coming = set(alike[:last])
        return [row.likeness if row.likeness in coming else None for row in rows]

    def left(self, row: Remembered) -> float:
        """1: nothing is forgotten."""
        return 1.0
