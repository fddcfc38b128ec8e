"""After a clock that was a year ahead is right again, nothing waits for a year."""

from datetime import timedelta

import pytest

from companions.life import outreach
from companions.life.clock import restore_times
from companions.life.timers.timers import begin_wakings, claim_timers, set_timer
from companions.life.triggers import claim_companions, make_waking
from companions.life.wakings.waking import find_due
from companions.models import Companion, Delivery, Life, Message, Timer, Waking
from tests.companions.life.waking import NOON, woken, wrote

HOUR, DAY, YEAR = timedelta(hours=1), timedelta(days=1), timedelta(days=365)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


@pytest.fixture
def juno(mira: Companion) -> Companion:
    mira.timers.all().delete()  # the predefined ones
    return mira


def timer(companion: Companion, schedule: str, now: object = NOON) -> Timer:
    return set_timer(companion, schedule, "Pills.", by=Timer.By.USER, now=now, is_asked_for=True)  # type: ignore[arg-type]


def due(one: Timer) -> object:
    one.refresh_from_db()
    assert one.due_at == one.look_at
    return one.due_at


def test_a_daily_reminder_goes_on_the_next_day(juno: Companion) -> None:
    one = timer(juno, "cron:0 9 * * *")
    right = due(one)
    begin_wakings(claim_timers(NOON + YEAR, 10), NOON + YEAR)
    assert due(one) != right
    assert restore_times(NOON) == 2  # with the waking
    assert due(one) == right
    assert restore_times(NOON) == 0


def test_what_was_to_come_in_two_hours_comes_in_two_hours(juno: Companion) -> None:
    one = timer(juno, "2h", NOON + YEAR)
    restore_times(NOON)
    assert due(one) == NOON + 2 * HOUR


@pytest.mark.parametrize(
    "schedule", ["once:2047-05-04 09:00", "cron:0 9 1 1 *", "cron:0 9 * * MON", "300d", "1d"]
)
def test_what_is_far_ahead_by_right_stays(juno: Companion, schedule: str) -> None:
    one = timer(juno, schedule)
    before = due(one)
    assert restore_times(NOON + HOUR) == 0
    assert due(one) == before


def test_what_cannot_be_read_stops_nothing(juno: Companion) -> None:
    bad, good = timer(juno, "5d"), timer(juno, "2h", NOON + YEAR)
    Timer.objects.filter(pk=bad.pk).update(schedule="cron:what")
    assert restore_times(NOON) == 1
    assert due(good) == NOON + 2 * HOUR


def test_what_a_worker_held_or_was_to_try_again_is_free(juno: Companion) -> None:
    waking = woken(juno, NOON)
    Waking.objects.update(look_at=NOON + YEAR)
    wrote(juno, "Hello")
    Delivery.objects.create(
        companion=juno, message=juno.messages.get(text="Hello"), channel="email", due_at=NOON + YEAR
    )
    Life.objects.filter(companion=juno).update(reaches_out=True, reflect_at=NOON + YEAR)
    claim_companions(NOON + YEAR, 10)
    make_waking(juno.pk, NOON + YEAR)
    assert claim_companions(NOON + HOUR, 10) == []
    assert restore_times(NOON + HOUR) >= 4
    assert find_due(NOON + HOUR)[0] == waking.pk
    assert outreach.find_recipients(NOON + HOUR) == [juno.user_id]
    assert claim_companions(NOON + HOUR, 10) == [juno.pk]
    assert Life.objects.get(companion=juno).reflect_at is None


def test_what_is_put_off_by_right_stays_so(juno: Companion) -> None:
    woken(juno, NOON)
    Waking.objects.update(look_at=NOON + 6 * HOUR)
    Life.objects.filter(companion=juno).update(drives_at=NOON + DAY)
    assert restore_times(NOON) == 0


def test_what_is_said_after_it_counts_as_unread_and_what_was_said_ahead_does_not(juno: Companion) -> None:
    message = wrote(juno, "Happy new year!")
    Message.objects.filter(pk=message.pk).update(said_at=NOON + YEAR)
    outreach.mark_read(juno, NOON + YEAR)
    restore_times(NOON - HOUR)
    juno.conversation.refresh_from_db()
    assert outreach.count_unread(juno.user, NOON) == {}
    assert outreach.find_first_unread(juno.conversation, NOON) is None
    hello = wrote(juno, "Hello")
    assert outreach.count_unread(juno.user, NOON) == {juno.pk: 1}
    assert outreach.find_first_unread(juno.conversation, NOON) == hello


def test_what_a_clock_says_that_is_a_little_ahead_counts_as_unread(juno: Companion) -> None:
    wrote(juno, "Hello")
    assert outreach.count_unread(juno.user, NOON - timedelta(seconds=1)) == {juno.pk: 1}
