"""Flashbacks: now and then something comes to mind unasked. All chance is passed in, so a seed decides."""

from collections.abc import Mapping
from random import Random
from uuid import UUID

from memory.policies.kith import retention
from memory.policies.remembered import Remembered, require

PROBABILITY = 0.05
JOY = 1.5
AVERSION = 2.0  # what hurt comes back by itself more than what pleased


def comes_unasked(chance: Random, probability: float = PROBABILITY) -> bool:
    """Whether something comes to mind this time; takes one number from the source, ValueError outside of 0 to 1."""
    require("probability", probability, 0, 1)
    return chance.random() < probability


def which(candidates: Mapping[UUID, Remembered], chance: Random) -> UUID | None:
    """One of the candidates, drawn by weight, or None where there is none.

    The same seed and candidates draw the same, in whichever order they are given.
    """
    if not candidates:
        return None
    ids = sorted(candidates)
    return chance.choices(ids, [weight(candidates[id]) for id in ids])[0]


def weight(row: Remembered) -> float:
    """Above 0: what is still there of the memory, up to 4.5 times of it where it is felt. Relevance has no part in it."""
    return retention(row) * (1 + JOY * row.joy + AVERSION * row.aversion)
