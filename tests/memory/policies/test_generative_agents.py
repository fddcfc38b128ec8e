"""Generative agents: recency, importance and likeness, each stretched over the rows."""

import pytest

from memory.scoring.policies import GenerativeAgents
from tests.memory.policies.conftest import Row


def test_the_golden_sum_of_three_rows(row: Row) -> None:
    rows = [
        row(likeness=0.9, idle_days=30.0, importance=2),
        row(likeness=0.5, idle_days=0.0, importance=5),
        row(likeness=0.1, idle_days=10.0, importance=8),
    ]
    recency = (0.99**10 - 0.99**30) / (1 - 0.99**30)
    assert recency == pytest.approx(0.6327, abs=5e-5)
    assert GenerativeAgents().score(rows) == pytest.approx([1.0, 2.0, recency + 1])


def test_it_is_the_last_recall_that_counts_and_not_the_age(row: Row) -> None:
    again, never = GenerativeAgents().score(
        [row(age_days=500, idle_days=1.0), row(age_days=500, idle_days=500.0)]
    )
    assert (again, never) == (2.0, 1.0)


def test_what_is_the_same_in_all_counts_a_half(row: Row) -> None:
    assert GenerativeAgents().score([row()]) == [1.5]
    assert GenerativeAgents().score([row(), row()]) == [1.5, 1.5]
    assert GenerativeAgents().score([]) == []


def test_what_has_no_embedding_neither_comes_nor_counts(row: Row) -> None:
    rows = [row(likeness=0.9), row(likeness=None, importance=10, idle_days=900.0), row(likeness=0.5)]
    assert GenerativeAgents().score(rows) == [2.0, None, 1.0]


def test_importance_is_stretched_without_integer_division(row: Row) -> None:
    scores = GenerativeAgents().score([row(importance=importance) for importance in (1, 4, 10)])
    assert scores == pytest.approx([1.0, 1 + 1 / 3, 2.0])
