"""A mood is what was called to mind, fading; a pure function."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.conftest import DAY
from tests.memory.feelings import Felt, mood

HOURS = st.floats(0, 10_000)
SHARES = st.floats(0, 1)
FELT = st.builds(
    lambda hours, joy, aversion: Felt(DAY - timedelta(hours=hours), joy, aversion), HOURS, SHARES, SHARES
)


def felt(hours: float, joy: float, aversion: float = 0.0) -> Felt:
    return Felt(DAY - timedelta(hours=hours), joy, aversion)


@pytest.mark.parametrize(
    ("remembered", "expected"),
    [
        ([], 0),
        ([felt(0, 1)], 1 / 2),
        ([felt(3, 1)], 0.5 / 1.5),
        ([felt(6, 0, 0.8)], -0.25 * 0.8 / 1.25),
        ([felt(0, 1), felt(0, 0, 1)], 0),
        ([felt(0, 0.7, 0.7)], 0),
        ([felt(0, 1)] * 9, 0.9),
        ([felt(240, 1)], 0),
        ([felt(-1, 1)], 1 / 2),  # a clock that is ahead
    ],
)
def test_a_mood_is_what_was_felt_lately(remembered: list[Felt], expected: float) -> None:
    assert mood(remembered, DAY) == pytest.approx(expected, abs=1e-9)


@given(st.lists(FELT, max_size=30))
def test_a_mood_lies_between_all_aversion_and_all_joy(remembered: list[Felt]) -> None:
    assert -1 <= mood(remembered, DAY) <= 1


@given(FELT, st.floats(0, 1000))
def test_time_alone_only_calms(one: Felt, hours: float) -> None:
    assert abs(mood([one], DAY + timedelta(hours=hours))) <= abs(mood([one], DAY)) + 1e-12
