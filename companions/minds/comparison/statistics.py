"""Whether two models that answer the same prompts differ: a paired permutation test, and bootstrap intervals. Pure.

If the models were alike, the two answers of a pair could be exchanged. So the test draws random signs for the pairs'
differences, the same sign for all measures of a pair. The p-values are adjusted for the number of measures by the least
p-value of each draw (Westfall and Young, "Resampling-Based Multiple Testing", 1993, algorithm 2.8 in one step), so that
at most the share `CLEAR_P` of all comparisons of equal models calls any measure different.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
EXACT_PAIRS = 12  # up to so many pairs, all (at most 4,096) combinations of signs are used
DRAWS = 9_999
RESAMPLES = 2_000
CLEAR_P = 0.02  # a difference with a lower p-value counts as clear
INTERVAL = (2.5, 97.5)  # percentiles


@dataclass(frozen=True, slots=True)
class Difference:
    """Both models' means of a measure, their difference (other - own) with its interval, and the adjusted p-value."""

    own: float
    other: float
    difference: float
    low: float
    high: float
    p: float


def compare(
    own: Mapping[str, Floats], other: Mapping[str, Floats], shift: Floats | None, seed: int
) -> tuple[dict[str, Difference], float | None]:
    """Return each measure's difference, and the p-value of `shift` (None without one). Deterministic for a seed.

    Measures are (n,) over the same n pairs. `shift` is (n, width): the differences of the answers' embeddings.
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
    """Return the smallest p-value that the test can give for so many pairs, however much they differ."""
    return max(2.0 / 2.0**pairs, 1.0 / (DRAWS + 1))


def _draw_signs(pairs: int, chance: np.random.Generator) -> Floats:
    """Return signs, (draws, pairs). The first draw is the observed one: all 1."""
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
    rounded = np.round(statistics / scale, 9)  # so that values that differ only by rounding errors are equal
    draws = len(rounded)
    by_draw = np.empty_like(rounded)
    for column, values in enumerate(rounded.T):
        order = np.argsort(values)
        ascending = values[order]  # searching sorted values is several times as fast
        by_draw[order, column] = draws - np.searchsorted(ascending, ascending, side="left")
    least = np.sort(by_draw.min(axis=1))
    adjusted: Floats = np.searchsorted(least, by_draw[0], side="right") / draws
    return adjusted
