"""What a scoring policy is."""

from collections.abc import Sequence
from typing import Protocol

from memory.scoring.remembered import Remembered


class Policy(Protocol):
    """Scores all candidates of one recall at once: some policies compare them with each other."""

    @property
    def name(self) -> str:
        """The name that a companion keeps."""

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """A finite score for each row in its place, higher is sooner; None: it does not come to mind at all."""

    def left(self, row: Remembered) -> float:
        """What forgetting has left of the memory, as the score counts it: 1 when fresh, 0 when gone."""
