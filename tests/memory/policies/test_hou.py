"""Hou's recall probability: the golden sequence, the unit of time, the threshold."""

import pytest

from memory.scoring.policies import Hou, probability
from memory.scoring.policy import consolidation
from tests.memory.policies.conftest import Row


@pytest.mark.parametrize(
    ("recalls", "g", "p"), [(0, 1.0, 0.4869), (1, 1.4621, 0.6269), (2, 1.9242, 0.7092), (3, 2.3864, 0.7624)]
)
@pytest.mark.parametrize("unit", [1.0, 30.0, 1 / 24])
def test_the_golden_sequence_in_any_unit(row: Row, recalls: int, g: float, p: float, unit: float) -> None:
    after = row(idle_days=unit, recalls=recalls, gaps_days=(unit,) * recalls)
    assert consolidation(after, unit) == pytest.approx(g, abs=5e-5)
    assert probability(after, unit) == pytest.approx(p, abs=5e-5)


def test_the_unit_of_time_decides(row: Row) -> None:
    week = row(idle_days=7.0)
    assert probability(week, unit_days=1) < 0.002
    assert probability(week, unit_days=30) > 0.7


def test_the_threshold_asks_for_likeness_and_for_freshness(row: Row) -> None:
    rows = [row(likeness=0.7844), row(likeness=0.7845), row(idle_days=0.242), row(idle_days=0.243)]
    scores = Hou().score(rows)
    assert [score is not None for score in scores] == [False, True, True, False]


def test_the_threshold_can_be_lower(row: Row) -> None:
    assert Hou(threshold=0.48).score([row(idle_days=1.0)]) == pytest.approx([0.4869], abs=5e-5)
    with pytest.raises(ValueError, match="threshold"):
        Hou(threshold=1.1)


def test_a_recall_at_an_unknown_time_counts_as_one_after_a_day(row: Row) -> None:
    assert consolidation(row(recalls=2)) == consolidation(row(recalls=2, gaps_days=(1.0, 1.0)))


def test_spaced_recalls_hold_better_than_massed_ones(row: Row) -> None:
    spaced, massed = (row(recalls=3, gaps_days=(gap,) * 3, idle_days=5.0) for gap in (3.0, 0.01))
    assert probability(spaced) > probability(massed)


def test_without_an_embedding_it_does_not_come(row: Row) -> None:
    assert Hou(threshold=0).score([row(likeness=None), row(likeness=-0.5)]) == [None, 0.0]
