"""MemoryBank: e^(−t/S), and what is stronger stays longer."""

import pytest

from memory.scoring.policies import MemoryBank, memory_bank_retention
from tests.memory.policies.conftest import Row


@pytest.mark.parametrize(
    ("idle", "recalls", "left"),
    [(0, 0, 1.0), (1, 0, 0.368), (1, 4, 0.819), (5, 4, 0.368), (2, 0, 0.135), (1, 1, 0.607)],
)
def test_the_golden_curve_with_strength_in_the_divisor(idle: float, recalls: int, left: float) -> None:
    assert memory_bank_retention(idle, recalls) == pytest.approx(left, abs=5e-4)


def test_the_policy_is_likeness_times_retention(row: Row) -> None:
    rows = [row(likeness=0.5, idle_days=1.0, age_days=90), row(likeness=-0.5), row(likeness=None)]
    assert MemoryBank().score(rows) == pytest.approx([0.18394, 0, None], abs=5e-6)


def test_the_unit_can_be_longer(row: Row) -> None:
    assert MemoryBank(unit_days=30).score([row(idle_days=30)]) == pytest.approx([0.36788], abs=5e-6)
    with pytest.raises(ValueError, match="unit_days"):
        MemoryBank(unit_days=0)


def test_a_thousand_years_leave_nothing_and_fail_nowhere(row: Row) -> None:
    assert MemoryBank().score([row(idle_days=365_000)]) == [0.0]
