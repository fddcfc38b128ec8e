"""Whether two answerers of the same questions differ: a permutation test of pairs, and bootstrap intervals. Pure.

Were both alike, each of a pair's two answers might as well be the other's: so the signs of all differences are drawn
anew, those of one pair together for all measures. The p-values are adjusted for the number of measures by the smallest of
each draw (Westfall and Young, "Resampling-Based Multiple Testing", 1993, algorithm 2.8 in one step), so that of all
comparisons of equals at most the share `CLEAR_P` calls any measure different.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
EXACT_PAIRS = 12  # of which every one of the 4,096 drawings is looked at
DRAWS = 9_999
RESAMPLES = 2_000
CLEAR_P = 0.02  # a difference below this is no chance
INTERVAL = (2.5, 97.5)  # per cent


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much the second answerer is above the first on average, from where to where, and how likely by chance."""

    own: float
    other: float
    difference: float
    low: float
    high: float
    p: float


def compare(
    own: Mapping[str, Floats], other: Mapping[str, Floats], shift: Floats | None, seed: int
) -> tuple[dict[str, Difference], float | None]:
    """Return how the measures differ, each (n,) over the same n pairs, and the p-value of `shift`; None without one.

    `shift` is (n, width): by how much the vectors of the answers differ, pair by pair. Seed and pairs decide all draws.
    """
    names, chance = list(own), np.random.default_rng(seed)
    differences = np.stack([other[name] - own[name] for name in names], axis=1)
    signs = _draw_signs(len(differences), chance)
    statistics = np.abs(signs @ differences)
    if shift is not None:
        statistics = np.column_stack([statistics, ((signs @ (shift @ shift.T)) * signs).sum(axis=1)])
    adjusted = _adjust(statistics)
    drawn = chance.integers(len(differences), size=(RESAMPLES, len(differences)))
    found = {}
    for column, name in enumerate(names):
        means = differences[drawn, column].mean(axis=1)
        low, high = np.percentile(means, INTERVAL)
        found[name] = Difference(
            float(own[name].mean()),
            float(other[name].mean()),
            float(differences[:, column].mean()),
            float(low),
            float(high),
            float(adjusted[column]),
        )
    return found, None if shift is None else float(adjusted[-1])


def find_least_p(pairs: int) -> float:
    """Return the smallest p-value that so many pairs can show, however much they differ."""
    return max(2.0 / 2.0**pairs, 1.0 / (DRAWS + 1))


def _draw_signs(pairs: int, chance: np.random.Generator) -> Floats:
    """Return signs (draws, pairs), of which the first draw is as it was: all 1."""
    if pairs <= EXACT_PAIRS:
        bits = np.arange(2**pairs)[:, None] >> np.arange(pairs) & 1
        signs: Floats = (1.0 - 2.0 * bits).astype(np.float64)
    else:
        drawn = chance.choice([-1.0, 1.0], size=(DRAWS, pairs))
        signs = np.concatenate([np.ones((1, pairs)), drawn])
    return signs


def _adjust(statistics: Floats) -> Floats:
    """Return the p-value of each column's first row among all rows, adjusted for the number of columns."""
    scale = np.maximum(statistics.max(axis=0), 1e-12)
    rounded = np.round(statistics / scale, 9)  # what is equal but for its last digits is equal
    draws = len(rounded)
    by_draw = np.empty_like(rounded)
    for column, values in enumerate(rounded.T):
        order = np.argsort(values)
        ascending = values[order]  # looking for them in their order is several times as fast
        by_draw[order, column] = draws - np.searchsorted(ascending, ascending, side="left")
    least = np.sort(by_draw.min(axis=1))
    adjusted: Floats = np.searchsorted(least, by_draw[0], side="right") / draws
    return adjusted
