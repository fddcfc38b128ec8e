"""AIRI in chats: 1.2 × likeness + 0.2 × recency, in days and not in milliseconds over seconds."""

import pytest

from memory.scoring.policies import AiriChat
from tests.memory.policies.conftest import Row


@pytest.mark.parametrize(
    ("age_days", "score"),
    [
        (0, 1.16),
        (1 / 24, 1.159722),
        (1, 1.153333),
        (15, 1.06),
        (30, 0.96),
        (31, 0.96),
        (3650, 0.96),
    ],
)
def test_the_golden_scores_of_a_likeness_of_point_eight(row: Row, age_days: float, score: float) -> None:
    assert AiriChat().score([row(likeness=0.8, age_days=age_days)]) == pytest.approx([score], abs=5e-7)


def test_recency_never_swamps_meaning(row: Row) -> None:
    old, new = AiriChat().score([row(likeness=0.9, age_days=400), row(likeness=0.7)])
    assert old is not None
    assert new is not None
    assert old > new


def test_half_a_likeness_is_not_enough(row: Row) -> None:
    assert AiriChat().score([row(likeness=0.5), row(likeness=None), row(likeness=0.501)])[:2] == [None, None]
