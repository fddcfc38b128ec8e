"""AIRI's D and E: the golden table of its playground, and what the policy makes of them."""

from itertools import pairwise
from math import log

import pytest

from memory.scoring.policies import AIRIS, RANGES, AiriDecay, Curve, decayed, emotional, lasting
from tests.memory.policies.conftest import Row

GOLDEN = [  # age, recalls, idle, L, D, E with joy .5, E with aversion .5; of an origin of 500
    (0, 0, 0, 0, 500.00, 875.00, 1000.00),
    (7, 0, 7, 0, 250.04, 250.04, 500.07),
    (30, 0, 30, 0, 25.65, 25.65, 51.30),
    (30, 1, 1, 0, 31.58, 32.76, 69.47),
    (30, 4, 1, 0, 49.35, 51.19, 108.57),
    (30, 5, 1, 0.7, 442.00, 458.51, 972.40),
    (30, 5, 14, 0.7, 289.72, 289.72, 637.39),
    (30, 10, 1, 0.91, 1266.67, 1313.97, 3090.68),
]


@pytest.mark.parametrize(("age", "recalls", "idle", "kept", "d", "joyful", "averse"), GOLDEN)
def test_the_golden_table(
    row: Row, age: float, recalls: int, idle: float, kept: float, d: float, joyful: float, averse: float
) -> None:
    times = {"age_days": age, "idle_days": idle, "recalls": recalls}
    assert lasting(recalls) == pytest.approx(kept, abs=1e-12)
    assert decayed(500, age, idle, recalls) == pytest.approx(d, abs=0.005)
    assert emotional(500, row(**times)) == pytest.approx(d, abs=0.005)
    assert emotional(500, row(**times, joy=0.5)) == pytest.approx(joyful, abs=0.005)
    assert emotional(500, row(**times, aversion=0.5)) == pytest.approx(averse, abs=0.005)


def test_half_is_left_after_the_half_life() -> None:
    half = log(2) / AIRIS.decay * AIRIS.unit_days
    assert half == pytest.approx(7.0015, abs=5e-5)
    assert decayed(500, half, half, 0) == pytest.approx(250)


def test_the_unit_of_time_can_be_an_hour() -> None:
    assert decayed(500, 7 / 24, 7 / 24, 0, Curve(unit_days=1 / 24)) == pytest.approx(250.04, abs=0.005)


def test_recalls_divide_by_the_threshold_without_truncation() -> None:
    assert lasting(7) == pytest.approx(1 - 0.3**1.4)


def test_an_eased_curve_climbs_to_the_threshold_without_a_cliff() -> None:
    eased = [lasting(recalls, Curve(is_eased=True)) for recalls in range(12)]
    assert eased[:6] == pytest.approx([0, 0.14, 0.28, 0.42, 0.56, 0.7])
    assert eased[5:] == [lasting(recalls) for recalls in range(5, 12)]
    assert max(b - a for a, b in pairwise(eased)) < 0.15


def test_the_policy_is_likeness_times_what_is_left(row: Row) -> None:
    rows = [row(likeness=0.8), row(likeness=0.8, age_days=7, idle_days=7), row(likeness=0.8, joy=0.5)]
    assert AiriDecay().score(rows) == pytest.approx([0.8, 0.8 * 0.50007, 0.8 * 1.75], abs=5e-6)


def test_the_policy_lets_nothing_count_more_than_two_fresh_ones(row: Row) -> None:
    often = row(likeness=0.5, age_days=30, recalls=1_000_000, joy=1.0, aversion=1.0)
    assert AiriDecay().score([often, row(likeness=-0.5), row(likeness=None)]) == [1.0, 0.0, None]


def test_a_million_recalls_are_still_a_number(row: Row) -> None:
    worst = Curve(aversion_growth=1.5, boost=1.0)
    assert emotional(500, row(recalls=1_000_000, aversion=1.0), worst) < 1e45


@pytest.mark.parametrize("name", RANGES)
def test_a_parameter_outside_of_its_range_is_refused(name: str) -> None:
    for bad in (RANGES[name][0] - 0.5, RANGES[name][1] * 2, float("nan")):
        with pytest.raises(ValueError, match=name):
            Curve(**{name: bad})
