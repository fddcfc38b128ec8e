"""Each due time becomes exactly one waking, over any number of ticks; after a downtime one stands for all."""

import threading
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction
from pytest_django import DjangoAssertNumQueries

from companions.life import tasks
from companions.life.timers.timers import (
    MAX_ATTEMPTS,
    MAX_MISSED,
    begin_wakings,
    cancel,
    claim_timers,
    set_timer,
)
from companions.models import Companion, Timer, Waking
from companions.models.companion import lock
from jobs.slots import FOR_MODELS

NINE = datetime(2026, 5, 4, 7, tzinfo=UTC)  # nine in Berlin
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
pytestmark = pytest.mark.django_db


@pytest.fixture
def juno(mira: Companion) -> Companion:
    mira.timers.all().delete()  # the predefined ones
    return mira


def timer(companion: Companion, schedule: str, now: datetime = NINE, note: str = "Call home.") -> Timer:
    return set_timer(companion, schedule, note, by=Timer.By.USER, now=now, is_asked_for=True)


def tick(now: datetime) -> list[Waking]:
    """What one tick does, at once."""
    begun: list[UUID] = []
    while ids := claim_timers(now, 10):
        begun += begin_wakings(ids, now)
    return list(Waking.objects.filter(pk__in=begun).order_by("due_at"))


def test_a_timer_wakes_once_when_it_is_due(juno: Companion) -> None:
    one = timer(juno, "30s")
    assert tick(NINE + timedelta(seconds=29)) == []
    (waking,) = tick(NINE + timedelta(seconds=30))
    assert (waking.timer, waking.due_at, waking.note) == (one, NINE + timedelta(seconds=30), "Call home.")
    assert (waking.missed, waking.is_asked_for, waking.state) == (0, True, "waiting")
    assert tick(NINE + DAY) == []
    one.refresh_from_db()
    assert (one.state, one.due_at, one.ended_at) == ("ended", None, NINE + timedelta(seconds=30))


def test_while_models_are_slow_only_what_was_asked_for_wakes(
    juno: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    timer(juno, "30s")
    (waking,) = tick(NINE + timedelta(seconds=30))
    woken: list[bool] = []
    monkeypatch.setattr(tasks.waking, "run", lambda _id, _clock, *, has_slot=True: woken.append(has_slot))
    with ExitStack() as busy:
        for number in range(4):
            busy.enter_context(FOR_MODELS.take((str(number),)))
        tasks.wake(str(waking.pk))
        assert woken == [True]
        for number in range(3):
            busy.enter_context(tasks.ASKED_FOR.take(str(number)))
        tasks.wake(str(waking.pk))
        assert woken == [True, False]
        Waking.objects.update(is_asked_for=False)
        tasks.wake(str(waking.pk))
    assert woken == [True, False]
    assert tasks.ASKED_FOR.pop_missed() == [str(waking.pk)]
    assert FOR_MODELS.pop_missed() == [(tasks.wake_unasked.name, str(waking.pk))]


def test_a_cron_wakes_again_and_again(juno: Companion) -> None:
    one = timer(juno, "cron:0 8 * * *")
    days = [tick(NINE + n * DAY)[0].due_at for n in (1, 2, 3)]
    assert days == [NINE - HOUR + n * DAY for n in (1, 2, 3)]
    one.refresh_from_db()
    assert (one.state, one.due_at, one.look_at) == ("active", NINE - HOUR + 4 * DAY, NINE - HOUR + 4 * DAY)


def test_after_a_downtime_of_months_there_is_one_waking_too(juno: Companion) -> None:
    one = timer(juno, "cron:*/10 * * * *")
    at = NINE + 100 * DAY
    (waking,) = tick(at)
    assert waking.missed == MAX_MISSED
    one.refresh_from_db()
    assert one.due_at == at + timedelta(minutes=10)


def test_after_a_downtime_there_is_one_waking_which_knows_what_was_missed(juno: Companion) -> None:
    timer(juno, "cron:0 8 * * *")
    (waking,) = tick(NINE + 10 * DAY + HOUR)
    assert waking.due_at == NINE - HOUR + 10 * DAY
    assert (waking.missed, waking.missed_since) == (9, NINE - HOUR + DAY)
    assert tick(NINE + 10 * DAY + 2 * HOUR) == []


def test_what_is_claimed_is_nobody_elses_until_its_worker_is_given_up(juno: Companion) -> None:
    timer(juno, "30s")
    due = NINE + timedelta(seconds=30)
    assert len(claim_timers(due, 10)) == 1
    assert claim_timers(due + timedelta(seconds=60), 10) == []
    (waking,) = tick(due + timedelta(seconds=121))  # whoever claimed it has died
    assert waking.due_at == due


def test_begun_twice_there_is_one_waking(juno: Companion) -> None:
    timer(juno, "30s")
    due = NINE + timedelta(seconds=30)
    ids = claim_timers(due, 10)
    assert len(begin_wakings(ids, due)) == 1
    assert begin_wakings(ids, due) == []
    assert Waking.objects.count() == 1


def test_a_due_time_that_has_its_waking_gets_no_other(juno: Companion) -> None:
    one = timer(juno, "cron:0 8 * * *")
    tick(NINE + DAY)
    # As if nothing had been written.
    Timer.objects.filter(pk=one.pk).update(due_at=NINE - HOUR + DAY, look_at=NINE)
    assert tick(NINE + DAY) == []
    one.refresh_from_db()
    assert (Waking.objects.count(), one.due_at) == (1, NINE - HOUR + 2 * DAY)


def test_what_was_cancelled_after_it_was_claimed_does_not_wake(juno: Companion) -> None:
    one = timer(juno, "30s")
    due = NINE + timedelta(seconds=30)
    ids = claim_timers(due, 10)
    cancel(one, due)
    assert begin_wakings(ids, due) == []


def test_a_poisoned_timer_is_set_aside_and_stops_no_other(juno: Companion) -> None:
    bad, good = timer(juno, "30s"), timer(juno, "31s")
    Timer.objects.filter(pk=bad.pk).update(schedule="cron:what")
    now = NINE + timedelta(minutes=1)
    assert [one.timer for one in tick(now)] == [good]
    for n in range(1, MAX_ATTEMPTS):
        assert tick(now + n * HOUR) == []
    bad.refresh_from_db()
    assert (bad.state, bad.attempts, bad.due_at, bad.error) == (
        "set_aside",
        MAX_ATTEMPTS,
        None,
        "bad_cron",
    )
    assert claim_timers(now + DAY, 10) == []


def test_a_batch_takes_few_queries(
    juno: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for seconds in range(30, 50):
        timer(juno, f"{seconds}s")
    due = NINE + timedelta(minutes=1)
    with django_assert_num_queries(1):
        ids = claim_timers(due, 100)
    with django_assert_num_queries(9):  # a savepoint's two among them
        assert len(begin_wakings(ids, due)) == 20


@pytest.mark.django_db(transaction=True)
def test_many_ticks_at_once_make_one_waking_of_each(juno: Companion) -> None:
    for seconds in range(1, 41):
        timer(juno, f"{seconds}s")
    due = NINE + timedelta(minutes=1)

    def work() -> None:
        tick(due)
        connection.close()

    ticks = [threading.Thread(target=work) for _n in range(4)]
    for one in ticks:
        one.start()
    for one in ticks:
        one.join()
    tick(due + timedelta(seconds=5))  # of those whose companion another tick held
    assert Waking.objects.count() == 40
    assert not Timer.objects.active().exists()


@pytest.mark.django_db(transaction=True)
def test_nothing_begins_while_its_companion_is_held(juno: Companion) -> None:
    timer(juno, "30s")
    due = NINE + timedelta(seconds=30)
    came: list[list[Waking]] = []

    def work() -> None:
        came.append(tick(due))
        connection.close()

    with transaction.atomic():
        lock(juno.pk)
        other = threading.Thread(target=work)
        other.start()
        other.join(timeout=20)
    assert came == [[]]
    assert len(tick(due + timedelta(seconds=5))) == 1
