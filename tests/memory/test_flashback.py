"""What comes to mind unasked: seeded, weighed, and in no order."""

from collections import Counter
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.flashbacks import draw_flashback, is_flashback_due, weigh_flashback
from memory.scoring import Remembered


def remembered(
    idle_days: float = 0.0, joy: float = 0.0, aversion: float = 0.0, fit: float = 0.0
) -> Remembered:
    return Remembered(
        fit=fit, likeness=None, age_days=idle_days, idle_days=idle_days, joy=joy, aversion=aversion
    )


CANDIDATES = {UUID(int=n): remembered(idle_days=n * 10.0, joy=n / 10) for n in range(10)}


def test_a_seed_decides_whether_and_which() -> None:
    first, again = (
        [(is_flashback_due(chance, 0.05), draw_flashback(CANDIDATES, chance)) for _ in range(50)]
        for chance in (Random(7), Random(7))
    )
    other = Random(8)
    assert first == again
    assert first != [(is_flashback_due(other, 0.05), draw_flashback(CANDIDATES, other)) for _ in range(50)]


@given(st.permutations(list(CANDIDATES)), st.integers(0, 2**64))
def test_the_order_of_the_candidates_does_not_matter(order: list[UUID], seed: int) -> None:
    shuffled = {id: CANDIDATES[id] for id in order}
    assert draw_flashback(shuffled, Random(seed)) == draw_flashback(CANDIDATES, Random(seed))


def test_it_comes_about_one_time_in_twenty() -> None:
    chance = Random(1)
    assert 900 < sum(is_flashback_due(chance, 0.05) for _ in range(20_000)) < 1100


def test_it_can_be_never_or_always() -> None:
    chance = Random(1)
    assert not any(is_flashback_due(chance, 0) for _ in range(1000))
    assert all(is_flashback_due(chance, 1) for _ in range(1000))


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_probability_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        is_flashback_due(Random(1), bad)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (remembered(), 1),
        (remembered(idle_days=30), 0.5),
        (remembered(joy=1), 2.5),
        (remembered(aversion=1), 3),
        (remembered(joy=1, aversion=1), 4.5),
        (remembered(aversion=0.5, idle_days=90), 0.5),
        (remembered(fit=50), 1),
    ],
)
def test_feeling_and_retention_weigh_and_relevance_does_not(row: Remembered, expected: float) -> None:
    assert weigh_flashback(row) == pytest.approx(expected)


def test_it_is_drawn_as_often_as_it_weighs() -> None:
    candidates = {UUID(int=1): remembered(), UUID(int=2): remembered(aversion=1), UUID(int=3): remembered(30)}
    chance = Random(3)
    drawn = Counter(draw_flashback(candidates, chance) for _ in range(9000))
    assert [drawn[id] / 9000 for id in candidates] == pytest.approx([1 / 4.5, 3 / 4.5, 0.5 / 4.5], abs=0.02)


def test_what_is_forgotten_for_ages_can_still_come() -> None:
    old = {UUID(int=1): remembered(idle_days=4_000_000)}
    assert weigh_flashback(old[UUID(int=1)]) > 0
    assert draw_flashback(old, Random(1)) == UUID(int=1)


def test_of_nothing_nothing_comes() -> None:
    assert draw_flashback({}, Random(1)) is None
