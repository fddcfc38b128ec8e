"""AIRI's forgetting curve D and its emotional score E, by the formulas of its playground; and a policy made of them.

With a the age and t the time since the last recall, both in units, and n the number of recalls:
L = 1 − q^(n/N) from N recalls on, else 0
D = origin × e^(−λa(1 − L)) × (1 + nb × e^(−λst))
E = D × (1 + joy × J × e^(−jt)) × (1 + aversion × A × σ^⌈n/5⌉)
What it multiplies by for a flashback is left out: chance has no place in an order (see memory.recall.flashback).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, exp, log, pow
from typing import ClassVar

from memory.scoring.remembered import Remembered, require

RANGES: dict[str, tuple[float, float]] = {
    "decay": (0.01, 0.5),
    "unit_days": (0.001, 3660),
    "boost": (0, 1),
    "boost_fading": (0.1, 1),
    "long_term_at": (1, 20),
    "residual": (0.01, 0.9),
    "joy": (0.1, 3),
    "joy_fading": (0.5, 5),
    "aversion": (0.1, 5),
    "aversion_growth": (1, 1.5),
}
MOST_RECALLS = 1000  # further ones change nothing: σ to the power of a million is no number
MOST = 2.0  # a policy lets no memory count more than two fresh ones


@dataclass(frozen=True, slots=True)
class Curve:
    """The curve's parameters (λ, u, b, s, N, q, J, j, A, σ), each within RANGES, else ValueError.

    An eased curve has no cliff at the long-term threshold: L climbs to it in a straight line instead of from 0.
    """

    decay: float = 0.099
    unit_days: float = 1.0
    boost: float = 0.25
    boost_fading: float = 0.8
    long_term_at: int = 5
    residual: float = 0.3
    joy: float = 1.5
    joy_fading: float = 3.0
    aversion: float = 2.0
    aversion_growth: float = 1.2
    is_eased: bool = False

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            require(name, getattr(self, name), least, most)

    @property
    def half_life_days(self) -> float:
        """After how many days half is left of what was never recalled."""
        return log(2) / self.decay * self.unit_days


AIRIS = Curve()


def lasting(recalls: int, curve: Curve = AIRIS) -> float:
    """L: the share, 0 to 1, of decay that recalls have stopped."""
    if recalls >= curve.long_term_at:
        return 1 - pow(curve.residual, min(recalls, MOST_RECALLS) / curve.long_term_at)
    return (1 - curve.residual) * recalls / curve.long_term_at if curve.is_eased else 0.0


def decayed(origin: float, age_days: float, idle_days: float, recalls: int, curve: Curve = AIRIS) -> float:
    """D: what is left of the origin, or more than it where recalls are many."""
    age, idle = age_days / curve.unit_days, idle_days / curve.unit_days
    boost = min(recalls, MOST_RECALLS) * curve.boost * exp(-curve.decay * curve.boost_fading * idle)
    return origin * exp(-curve.decay * age * (1 - lasting(recalls, curve))) * (1 + boost)


def emotional(origin: float, row: Remembered, curve: Curve = AIRIS) -> float:
    """E: D, raised by joy that has just been felt again and by aversion that grows with every fifth recall."""
    d = decayed(origin, row.age_days, row.idle_days, row.recalls, curve)
    joy = row.joy * curve.joy * exp(-curve.joy_fading * row.idle_days / curve.unit_days)
    steps = ceil(min(row.recalls, MOST_RECALLS) / 5)
    return d * (1 + joy) * (1 + row.aversion * curve.aversion * curve.aversion_growth**steps)


@dataclass(frozen=True, slots=True)
class AiriDecay:
    """Likeness (never below 0) × E of an origin of 1, at most 2, on an eased curve.

    Without the bound, what is recalled often would come to mind at every cue and so be recalled still more.
    """

    curve: Curve = field(default_factory=lambda: Curve(is_eased=True))

    name: ClassVar[str] = "airi_decay"

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """From 0 to 2, or None without an embedding."""
        return [self._score(row) for row in rows]

    def _score(self, row: Remembered) -> float | None:
        if row.likeness is None:
            return None
        return max(row.likeness, 0) * self.left(row)

    def left(self, row: Remembered) -> float:
        """From 0 to 2: recalls and feelings raise it above 1."""
        return min(emotional(1, row, self.curve), MOST)
