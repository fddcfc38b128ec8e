"""What holds for every policy, whatever the rows."""

from dataclasses import fields, replace
from math import isfinite

from hypothesis import given
from hypothesis import strategies as st

from memory.scoring import CHOICES, Policy, Remembered, by_name
from memory.scoring.policies import AiriDecay, Curve, Hou, MemoryBank
from memory.scoring.policy import Kith

POLICIES: list[Policy] = [by_name(name) for name, _ in CHOICES]
POLICIES += [Hou(), Hou(threshold=0), Kith(mood=-1.0), MemoryBank(unit_days=365), AiriDecay(Curve())]
DAYS = st.floats(0, 40_000) | st.floats(0, 1) | st.sampled_from([0.0, 1.0, 30.0])
SHARES = st.floats(0, 1)


@st.composite
def remembered(draw: st.DrawFn) -> Remembered:
    recalls = draw(st.integers(0, 12) | st.integers(0, 10**6))
    drawn = Remembered(
        fit=draw(st.floats(-50, 50)),
        likeness=draw(st.none() | st.floats(-1, 1) | st.floats(0.5, 1)),
        age_days=draw(DAYS),
        idle_days=draw(DAYS),
        recalls=recalls,
        gaps_days=tuple(draw(st.lists(DAYS, max_size=min(recalls, 8)))),
        importance=draw(st.integers(1, 10)),
        joy=draw(SHARES),
        aversion=draw(SHARES),
        evidence=draw(st.integers(1, 1000)),
    )
    assert len(fields(drawn)) == 10, "draw a new field here, too"
    return drawn


ROWS = st.lists(remembered(), max_size=6)


def no_weaker(after: float | None, before: float | None) -> bool:
    """Whether it comes to mind as well as before, roundings aside."""
    return before is None or (after is not None and after >= before - 1e-9 * max(1, abs(before)))


@given(rows=ROWS)
def test_a_score_is_a_number_for_each_row_or_none(rows: list[Remembered]) -> None:
    for policy in POLICIES:
        scores = policy.score(rows)
        assert len(scores) == len(rows), policy
        assert all(score is None or isfinite(score) for score in scores), policy


def assert_comes_no_harder(other: Remembered, one: Remembered, beside: list[Remembered]) -> None:
    """By every policy the one, beside the same memories, comes to mind as well as the other would."""
    for policy in POLICIES:
        assert no_weaker(policy.score([one, *beside])[0], policy.score([other, *beside])[0]), policy


def recalled_once_more(one: Remembered, gap: float) -> Remembered:
    """The memory with one more recall; its gap is known where all were."""
    gaps = (*one.gaps_days, gap) if len(one.gaps_days) == one.recalls else one.gaps_days
    return replace(one, recalls=one.recalls + 1, gaps_days=gaps)


@given(one=remembered(), others=ROWS)
def test_a_recall_never_weakens(one: Remembered, others: list[Remembered]) -> None:
    recalled = replace(recalled_once_more(one, one.idle_days), idle_days=0.0)
    assert_comes_no_harder(one, recalled, others)


@given(one=remembered(), others=ROWS, gap=DAYS)
def test_one_more_recall_in_the_past_never_weakens(
    one: Remembered, others: list[Remembered], gap: float
) -> None:
    assert_comes_no_harder(one, recalled_once_more(one, gap), others)


@given(one=remembered(), others=ROWS, days=DAYS)
def test_time_never_strengthens_without_a_recall(
    one: Remembered, others: list[Remembered], days: float
) -> None:
    later = replace(one, age_days=one.age_days + days, idle_days=one.idle_days + days)
    assert_comes_no_harder(later, one, others)


@given(rows=ROWS, data=st.data())
def test_the_order_of_the_rows_does_not_matter(rows: list[Remembered], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(rows))))
    for policy in POLICIES:
        scores = policy.score(rows)
        assert policy.score([rows[n] for n in order]) == [scores[n] for n in order], policy


@given(rows=ROWS, data=st.data())
def test_a_better_fit_and_likeness_never_weaken(rows: list[Remembered], data: st.DataObject) -> None:
    """Of one candidate alone: DigitalLife lets one that became clearly alike send others away, never the other way."""
    for one in rows:
        likeness = None if one.likeness is None else data.draw(st.floats(one.likeness, 1))
        better = replace(one, fit=data.draw(st.floats(one.fit, 50)), likeness=likeness)
        for policy in POLICIES:
            assert no_weaker(policy.score([better])[0], policy.score([one])[0]), policy


@given(one=remembered())
def test_what_is_left_is_a_share_that_time_alone_never_raises(one: Remembered) -> None:
    later = replace(one, age_days=one.age_days + 1, idle_days=one.idle_days + 1)
    for policy in POLICIES:
        assert 0 <= policy.left(later) <= policy.left(one) + 1e-9 <= 2 + 1e-9, policy
