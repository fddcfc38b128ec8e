"""Neighbours: what stands around a memory in its talk, in the order of time, tells what it is about."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Talks = NDArray[np.int64]

APART_SECONDS = 3600.0  # a longer silence begins another talk


def split_into_talks(times: Values) -> Talks:
    """Return the number of the talk that each of the rising times belongs to: what lies within an hour of the next."""
    return np.cumsum(np.diff(times, prepend=times[:1]) > APART_SECONDS)


def smooth_over_neighbours(
    values: Values, talks: Talks, before: Sequence[float], after: Sequence[float]
) -> Values:
    """Return (n,) or (n, k) values, each with shares of those that stand so many places before and after in its talk."""
    total = values.copy()
    for steps, (share_before, share_after) in enumerate(zip(before, after, strict=True), start=1):
        if steps >= len(values):
            break
        is_same = (talks[steps:] == talks[:-steps]).reshape(-1, *[1] * (values.ndim - 1))
        total[steps:] += share_before * values[:-steps] * is_same
        total[:-steps] += share_after * values[steps:] * is_same
    return total


def best_of_talk(values: Values, talks: Talks) -> Values:
    """Return for each memory the best value of its talk."""
    if not len(values):
        return values
    starts = np.flatnonzero(np.diff(talks, prepend=-1))
    best: Values = np.maximum.reduceat(values, starts)[talks]
    return best
