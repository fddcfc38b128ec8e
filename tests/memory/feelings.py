"""The rules by which memories feel and companions have moods, in Python: what the database does is compared with them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import exp2
from typing import NamedTuple

from memory.emotion import MOVED, SHIFTS, STIRRED, Reaction
from memory.scoring.policy import days_between, require

HALF_DAYS = 3 / 24
CALM = 1.0


@dataclass(frozen=True, slots=True)
class Feeling:
    """A memory's joy and aversion, each from 0 to 1, else ValueError."""

    joy: float = 0.0
    aversion: float = 0.0

    def __post_init__(self) -> None:
        require("joy", self.joy, 0, 1)
        require("aversion", self.aversion, 0, 1)

    def after(self, reaction: Reaction) -> "Feeling":
        """Return the feeling once a recall was taken so."""
        return self._moved(*SHIFTS[reaction])

    def stirred(self) -> "Feeling":
        """Return the feeling once the memory came to mind unasked: the stronger one grows a little, if it is strong."""
        if self.joy > self.aversion and self.joy > MOVED:
            return self._moved(STIRRED, 0.0)
        return self._moved(0.0, STIRRED if self.aversion > MOVED else 0.0)

    def _moved(self, joy: float, aversion: float) -> "Feeling":
        return Feeling(clamp(self.joy + joy), clamp(self.aversion + aversion))


def clamp(value: float) -> float:
    """Within 0 to 1, and without the crumbs of binary fractions."""
    return round(min(max(value, 0.0), 1.0), 6)


class Felt(NamedTuple):
    """A memory that came to mind at a moment, with its joy and aversion."""

    at: datetime
    joy: float
    aversion: float


def mood(felt: Iterable[Felt], now: datetime) -> float:
    """Return a mood from -1, all aversion, to 1, all joy; 0 where nothing was felt, or long ago.

    Σ w (joy - aversion) / (1 + Σ w), where w = 2^(-t / 3 h) and t is the time since each came to mind.
    """
    weighed = [
        (exp2(-days_between(memory.at, now) / HALF_DAYS), memory.joy - memory.aversion) for memory in felt
    ]
    return sum(weight * feeling for weight, feeling in weighed) / (
        CALM + sum(weight for weight, _ in weighed)
    )
