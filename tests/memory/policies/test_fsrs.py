"""FSRS: the published formulas, recalls that are spaced and recalls that are not, and what it costs."""

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.scoring.policies import LEARNT_AT, MAX_GAPS, SCHEDULER, Fsrs, card, gaps
from memory.scoring.policy import Remembered
from tests.fixtures.properties import examples
from tests.memory.policies.conftest import Row

W = SCHEDULER.parameters
GOOD = 3
FEW_DAYS = st.lists(st.integers(0, 400), max_size=MAX_GAPS)


def share(days: int, stability: float) -> float:
    """R as it is published: 0.9 when as many days have gone as the stability has."""
    return float((1 + (0.9 ** (-1 / W[20]) - 1) * days / stability) ** -W[20])


def stabilities(gaps_days: tuple[int, ...]) -> list[float]:
    """S after learning and after each recall, as FSRS-6 is published, with "good" for an answer throughout."""
    easiest = W[4] - exp(W[5] * 3) + 1
    difficulty, every = W[4] - exp(W[5] * (GOOD - 1)) + 1, [W[GOOD - 1]]
    for gap in gaps_days:
        stability = every[-1]
        if gap < 1:
            grown = max(exp(W[17] * W[18]) * stability ** -W[19], 1)
        else:
            forgotten = exp(W[10] * (1 - share(gap, stability))) - 1
            grown = 1 + exp(W[8]) * (11 - difficulty) * stability ** -W[9] * forgotten
        every.append(stability * grown)
        difficulty = min(max(W[7] * easiest + (1 - W[7]) * difficulty, 1), 10)
    return every


def left(idle: int, spaced: list[int]) -> float:
    """What the policy says is left of a memory that was recalled at these gaps."""
    times = {"age_days": idle, "idle_days": idle, "recalls": len(spaced)}
    return Fsrs().left(Remembered(fit=0, likeness=1, gaps_days=tuple(spaced), **times))


@pytest.mark.parametrize("spaced", [(), (1,), (3, 3, 3), (0, 2, 7, 21), (30,) * 5, (400, 0, 1, 90)])
@pytest.mark.parametrize("idle", [0, 1, 10, 365])
def test_the_golden_shares_follow_the_published_formulas(
    row: Row, spaced: tuple[int, ...], idle: int
) -> None:
    after = row(idle_days=idle, recalls=len(spaced), gaps_days=spaced)
    assert Fsrs().left(after) == pytest.approx(share(idle, stabilities(spaced)[-1]), rel=1e-9)


@pytest.mark.parametrize(
    ("spaced", "stability"), [((), 2.3065), ((3,), 13.83), ((3, 3), 26.0), ((3, 3, 3), 37.48)]
)
def test_nine_tenths_are_left_when_the_stability_has_gone(
    row: Row, spaced: tuple[int, ...], stability: float
) -> None:
    assert card(spaced).stability == pytest.approx(stability, abs=0.005)
    before, after = (
        Fsrs().left(row(idle_days=days, recalls=len(spaced), gaps_days=spaced))
        for days in (int(stability), int(stability) + 1)
    )
    assert before >= 0.9 > after


@given(spaced=FEW_DAYS, days=st.integers(0, 5_000))
def test_each_day_without_a_recall_leaves_less(spaced: list[int], days: int) -> None:
    one, later = (left(idle, spaced) for idle in (days, days + 1))
    assert 0 < later < one <= 1


@examples(50)
@given(spaced=st.lists(st.integers(1, 400), max_size=MAX_GAPS - 1), gap=st.integers(1, 400))
def test_a_recall_on_another_day_makes_it_last_longer(spaced: list[int], gap: int) -> None:
    once, again = (left(30, every) for every in (spaced, [*spaced, gap]))
    assert again > once


def test_recalls_at_growing_intervals_hold_better_than_as_many_on_one_day(row: Row) -> None:
    growing, massed = (
        Fsrs().left(row(idle_days=60, recalls=4, gaps_days=gaps_days))
        for gaps_days in ((2, 10, 30, 90), (0.01, 0.01, 0.01, 0.01))
    )
    assert growing > 0.95
    assert massed == pytest.approx(Fsrs().left(row(idle_days=60)))


def test_only_the_longest_twenty_gaps_are_looked_at(row: Row) -> None:
    years = (30.0,) * 5 + (90.5,) * 15
    built = row(recalls=60, gaps_days=(*years, *(0.1,) * 40), idle_days=400)
    assert gaps(built) == (30,) * 5 + (90,) * 15
    assert Fsrs().left(built) == Fsrs().left(row(recalls=20, gaps_days=years, idle_days=400))


def test_a_recall_at_an_unknown_time_counts_as_one_after_a_day(row: Row) -> None:
    assert gaps(row(recalls=3, gaps_days=(5.0,))) == (1, 1, 5)
    assert gaps(row(recalls=1_000_000)) == (1,) * MAX_GAPS


def test_the_policy_is_likeness_times_what_is_left(row: Row) -> None:
    rows = [row(likeness=0.5, idle_days=10, age_days=90), row(likeness=-0.5), row(likeness=None)]
    assert Fsrs().score(rows) == pytest.approx([0.5 * share(10, W[2]), 0, None])


def test_more_than_the_calendar_holds_is_still_a_share(row: Row) -> None:
    worst = row(idle_days=4_000_000, recalls=50, gaps_days=(4_000_000.0,) * 50)
    assert 0 < Fsrs().left(worst) < 1


def test_a_card_that_is_kept_is_not_changed_by_looking(row: Row) -> None:
    kept = card((3, 3))
    before = kept.to_dict()
    Fsrs().left(row(idle_days=100, recalls=3, gaps_days=(3.0, 3.0, 9.0)))
    assert kept is card((3, 3))
    assert kept.to_dict() == before
    assert kept.last_review is not None
    assert (kept.last_review - LEARNT_AT).days == 6
