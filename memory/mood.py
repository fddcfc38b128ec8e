"""A companion's mood, read from what it called to mind. Pure."""

from collections.abc import Iterable
from datetime import datetime
from math import exp2
from typing import NamedTuple

from memory.policies.remembered import days_between

HALF_DAYS = 3 / 24  # half of it is gone after three hours
CALM = 1.0  # weighs as much as one neutral memory just called to mind: no single one sways the whole


class Felt(NamedTuple):
    """A memory that came to mind at a moment, with its joy and aversion."""

    at: datetime
    joy: float
    aversion: float


def mood(felt: Iterable[Felt], now: datetime) -> float:
    """From -1, all aversion, to 1, all joy; 0 where nothing was felt, or long ago.

    Σ w (joy - aversion) / (1 + Σ w), where w = 2^(-t / 3 h) and t is the time since each came to mind.
    """
    weighed = [(exp2(-days_between(one.at, now) / HALF_DAYS), one.joy - one.aversion) for one in felt]
    return sum(weight * feeling for weight, feeling in weighed) / (
        CALM + sum(weight for weight, _ in weighed)
    )
