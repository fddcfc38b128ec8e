"""`make bench-scale`: its figures and verdicts on made-up times, and its companions on a small scale."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from bench.common.rows import person
from bench.common.vectors import turned
from bench.scale import tables
from bench.scale.asking import Asked, ask, cues
from bench.scale.figures import Figures, parts
from bench.scale.filling import copies_of, sessions
from companions.models import Companion
from memory.models import Memory
from memory.store import keep_fact


def figures(sql: float, bare: float, recall: float = 10.0) -> Figures:
    return Figures.of("x", [Asked(bare, 1.0, recall, [sql / 2, sql / 2])])


def test_figures_are_medians_and_95th_percentiles_of_all_cues() -> None:
    one = Figures.of("x", [Asked(1.0, 2.0, 10.0 * n, [n, 1.0]) for n in range(1, 4)])
    assert one.sql == pytest.approx((3.0, 3.9))
    assert one.whole == pytest.approx((22.0, 31.0))
    assert one.parts == (2.0, 1.0)


def test_statements_that_some_cues_did_without_count_as_nothing() -> None:
    assert Figures.of("x", [Asked(1, 1, 1, [2.0]), Asked(1, 1, 1, [2.0, 4.0])]).parts == (2.0, 2.0)


@pytest.mark.parametrize(
    ("sql", "bare", "is_near"), [(3.0, 1.0, True), (6.0, 1.0, True), (6.1, 1.0, False), (29.0, 10.0, True)]
)
def test_recalls_sql_is_near_by_its_ratio_or_by_its_milliseconds(
    sql: float, bare: float, is_near: bool
) -> None:
    assert figures(sql, bare).is_near is is_near


def test_the_verdicts_name_their_targets() -> None:
    told = tables.nearness({1_000: figures(9, 1), 10_000: figures(20, 8), 100_000: figures(99, 1)})
    assert told == [
        "SQL at 1,000 memories: 9.0 times the bare search, +8.0 ms (target: at most 3 times, or at most 5 ms more):"
        " MISSED",
        "SQL at 10,000 memories: 2.5 times the bare search, +12.0 ms (target: at most 3 times, or at most 5 ms more):"
        " reached",
    ]
    assert tables.growth("x", figures(1, 1, 10.0), figures(2, 1, 16.0)).startswith(
        "x: recall takes 1.60 times as long as before, its SQL 2.00 times (target: at most 1.5 times): MISSED"
    )


def test_statements_are_named_where_they_are_the_expected_ones() -> None:
    assert parts(4)[0] == "entries"
    assert parts(2) == ["statement 1", "statement 2"]


def test_tables_have_a_figure_for_each_heading() -> None:
    lines = tables.times("one of", [figures(6, 2)], is_markdown=False).splitlines()
    assert " ".join(lines[1].split()) == "x 6.0 6.0 2.0 2.0 10.0 10.0 1.0 1.0 11.0 11.0 3.0 +4.0"
    assert "2.0" in tables.statements("one of", [figures(4, 2)], is_markdown=True)


def test_cues_differ_and_are_the_same_each_time() -> None:
    drawn = cues(50, seed=1)
    assert len(set(drawn)) == 50
    assert drawn == cues(50, seed=1)


def test_turned_vectors_stay_near_theirs_with_length_1() -> None:
    base = np.eye(3, 384, dtype=np.float32)
    made = turned(base, 20, np.random.default_rng(1))
    assert np.linalg.norm(made, axis=1) == pytest.approx(np.ones(20), abs=1e-5)
    assert (made @ base.T).max(axis=1).min() > 0.8


@pytest.mark.django_db
def test_a_companion_is_told_what_another_was_as_memories_of_its_own() -> None:
    source, new = person("ann").companion, person("ben").companion
    _keep(source, 45)
    ids = [pk for session in sessions(source.pk) for pk in session]
    owners = copies_of([(source.pk, new.pk)], ids)
    assert [len(session) for session in sessions(source.pk)] == [40, 5]
    assert {owner.companion_id for owner in owners} == {new.pk}
    told = Memory.objects.of(new.pk).order_by("happened_at")
    assert [one.pk for one in told] == [owner.memory_id for owner in owners]
    assert [bytes(one.entry) for one in told] == [bytes(Memory.objects.get(pk=pk).entry) for pk in ids]
    assert Memory.objects.of(source.pk).count() == 45


@pytest.mark.django_db
def test_every_cue_is_timed_with_the_statements_of_its_recall() -> None:
    companion = person("ann").companion
    _keep(companion, 3)
    (one,) = ask([companion], ["The lighthouse"])
    assert len(one.statements) >= 2
    assert 0 < one.sql < one.recall < one.whole
    assert one.bare > 0


def _keep(companion: Companion, count: int) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for n in range(count):
        keep_fact(companion.pk, f"The lighthouse has {n} steps.", now + timedelta(hours=n), now)
