"""What policies look at: from moments, in days, and never a number that is none."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf, nan
from typing import Any

import pytest

from memory.scoring import Remembered

NOW = datetime(2026, 5, 31, 12, tzinfo=UTC)


def at(now: datetime = NOW, **values: Any) -> Remembered:
    usual = {"happened_at": NOW, "learnt_at": NOW, "fit": 0.0, "likeness": None}
    return Remembered.at(now, **usual | values)


@pytest.mark.parametrize(
    ("since", "days"),
    [
        (timedelta(0), 0.0),
        (timedelta(hours=1), 1 / 24),
        (timedelta(days=1), 1.0),
        (timedelta(days=30), 30.0),
        (timedelta(milliseconds=1), 1 / 86_400_000),
    ],
)
def test_time_counts_in_days(since: timedelta, days: float) -> None:
    read = at(happened_at=NOW - since, learnt_at=NOW - since)
    assert (read.age_days, read.idle_days) == pytest.approx((days, days), rel=1e-12)


def test_what_was_never_recalled_is_idle_since_it_was_learnt() -> None:
    read = at(happened_at=NOW - timedelta(days=100), learnt_at=NOW - timedelta(days=7))
    assert (read.age_days, read.idle_days, read.recalls, read.gaps_days) == (100, 7, 0, ())


def test_recalls_in_any_order_give_the_gaps_between_them() -> None:
    recalled = [NOW - timedelta(days=days) for days in (2, 9, 6)]
    read = at(learnt_at=NOW - timedelta(days=10), recalled_at=recalled)
    assert (read.idle_days, read.recalls, read.gaps_days) == (2, 3, (1, 3, 4))


def test_recalls_after_that_moment_had_not_been_yet() -> None:
    read = at(
        recalled_at=[NOW - timedelta(days=1), NOW + timedelta(days=1)], learnt_at=NOW - timedelta(days=2)
    )
    assert (read.idle_days, read.recalls, read.gaps_days) == (1, 1, (1,))


def test_clocks_that_differ_a_little_make_no_negative_time() -> None:
    read = at(happened_at=NOW + timedelta(seconds=1), learnt_at=NOW + timedelta(seconds=1))
    assert (read.age_days, read.idle_days) == (0, 0)


def test_zones_do_not_change_the_days() -> None:
    east = (NOW - timedelta(days=3)).astimezone(tz=None)
    assert at(happened_at=east).age_days == 3


@pytest.mark.parametrize("bad", [nan, inf, -inf])
@pytest.mark.parametrize("name", ["fit", "likeness", "age_days", "idle_days", "joy", "aversion"])
def test_no_number_is_refused_by_its_name(name: str, bad: float) -> None:
    with pytest.raises(ValueError, match=name):
        replace(at(), **{name: bad})


@pytest.mark.parametrize(
    "values",
    [
        {"age_days": -0.1},
        {"idle_days": -1.0},
        {"likeness": 1.5},
        {"recalls": -1},
        {"recalls": 1, "gaps_days": (1.0, 2.0)},
        {"recalls": 1, "gaps_days": (-1.0,)},
        {"recalls": 1, "gaps_days": (nan,)},
        {"importance": 0},
        {"importance": 11},
        {"joy": 1.1},
        {"aversion": -0.1},
        {"evidence": 0},
        {"fit": 1e300},
    ],
)
def test_what_lies_outside_of_its_range_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be a number from"):
        replace(at(), **values)


def test_a_cosine_a_rounding_above_one_is_taken() -> None:
    assert replace(at(), likeness=1.0000002).likeness == 1.0000002
