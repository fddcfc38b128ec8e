"""Kith's policy: relevance decides, small factors order what fits alike."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.scoring import Remembered
from memory.scoring.policy import Kith, fading, relevance, retention
from tests.memory.policies.conftest import Row

BOUNDS = {"recency": 0.01, "retention": 0.01, "emotion": 0.05, "importance": 0.1, "evidence": 0.05}


@pytest.mark.parametrize(
    ("fit", "value"),
    [(0, 0.693147), (1, 1.313262), (3, 3.048587), (-1, 0.313262), (-20, 2.0612e-9), (900, 900)],
)
def test_relevance_is_the_softplus_of_fit(fit: float, value: float) -> None:
    assert relevance(fit) == pytest.approx(value, rel=1e-5)


def test_a_memory_like_any_other_has_neutral_factors(row: Row) -> None:
    factors = Kith().factors(row(age_days=30.0, idle_days=30.0))
    assert factors == dict.fromkeys(BOUNDS, 1.0)
    assert Kith().score([row(age_days=30.0, idle_days=30.0, fit=1.0)]) == [relevance(1.0)]


@pytest.mark.parametrize(
    ("values", "name", "factor"),
    [
        ({}, "recency", 1.01),
        ({"age_days": 90.0}, "recency", 0.995),
        ({}, "retention", 1.01),
        ({"idle_days": 90.0}, "retention", 0.995),
        ({"idle_days": 60.0, "recalls": 1, "gaps_days": (1000.0,)}, "retention", 1.0),
        ({"joy": 1.0}, "emotion", 1.025),
        ({"aversion": 1.0}, "emotion", 1.025),
        ({"importance": 10}, "importance", 1.1),
        ({"importance": 1}, "importance", 0.92),
        ({"evidence": 2}, "evidence", 1.025),
        ({"evidence": 1_000_000}, "evidence", 1.05),
    ],
)
def test_the_golden_factors(row: Row, values: dict[str, Any], name: str, factor: float) -> None:
    assert Kith().factors(row(**values))[name] == pytest.approx(factor, abs=1e-6)


@pytest.mark.parametrize(
    ("mood", "joyful", "averse"), [(1, 1.05, 1.0), (0.5, 1.0375, 1.0125), (0, 1.025, 1.025), (-1, 1.0, 1.05)]
)
def test_a_mood_brings_to_mind_what_felt_alike(row: Row, mood: float, joyful: float, averse: float) -> None:
    kith = Kith(mood)
    assert kith.factors(row(joy=1.0))["emotion"] == pytest.approx(joyful)
    assert kith.factors(row(aversion=1.0))["emotion"] == pytest.approx(averse)
    assert kith.factors(row())["emotion"] == 1


@pytest.mark.parametrize("mood", [1.1, -1.1, float("nan")])
def test_a_mood_outside_of_its_range_is_refused(mood: float) -> None:
    with pytest.raises(ValueError, match="mood"):
        Kith(mood)


DAYS = st.floats(0, 4_000_000)
SHARES = st.floats(0, 1)


@given(
    st.builds(
        Remembered,
        fit=st.floats(-1e6, 1e6),
        likeness=st.none(),
        age_days=DAYS,
        idle_days=DAYS,
        recalls=st.integers(0, 10**9),
        importance=st.integers(1, 10),
        joy=SHARES,
        aversion=SHARES,
        evidence=st.integers(1, 10**9),
    ),
    st.floats(-1, 1),
)
def test_every_factor_keeps_within_its_bound(one: Remembered, mood: float) -> None:
    factors = Kith(mood).factors(one)
    assert factors.keys() == BOUNDS.keys()
    assert all(abs(factors[name] - 1) <= bound + 1e-12 for name, bound in BOUNDS.items())
    assert 0 <= retention(one) <= 1
    (score,) = Kith(mood).score([one])
    assert 0.9 * relevance(one.fit) <= score <= 1.24 * relevance(one.fit)


def test_what_barely_fits_never_overtakes_what_fits(row: Row) -> None:
    felt = {"importance": 10, "joy": 1.0, "evidence": 1000, "recalls": 1000}
    bare = {"importance": 1, "age_days": 3650.0, "idle_days": 3650.0}
    wrong, right = Kith().score([row(fit=1.0, **felt), row(fit=3.0, **bare)])
    assert wrong < right


def test_fading_still_tells_years_apart() -> None:
    assert fading(30, 30) == 0.5
    assert fading(3650, 30) - fading(7300, 30) > 0.004
