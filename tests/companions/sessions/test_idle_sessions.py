"""Eight silent hours end a session, whether beat was there to see them or not."""

from datetime import datetime, timedelta

import pytest

from companions.models import Closing, Companion, Session
from companions.sessions.closing import find_due, run
from companions.sessions.requests import close_silent
from jobs.lease import MAX_ATTEMPTS
from memory.models import DiaryEntry
from tests.companions.life.waking import wrote
from tests.companions.sessions.conftest import GARDEN, MORNING, TEA, Talk, ask_to_close
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import make_companion

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
LAST = MORNING + timedelta(minutes=len(TEA) - 1)


@pytest.fixture(autouse=True)
def _begun_then(mira: Companion) -> None:
    Session.objects.update(started_at=MORNING)


def sweep(now: datetime) -> int:
    """What beat does each minute; how many closings it went on with."""
    close_silent(now)
    closings = find_due(now)
    for closing_id in closings:
        run(closing_id, clock_at(now))
    return len(closings)


def test_a_session_is_closed_after_its_companions_idle_hours_and_not_before(
    mira: Companion, talk: Talk
) -> None:
    mira.idle_hours = 3
    mira.save()
    messages = talk(mira, *TEA)
    assert sweep(LAST + timedelta(hours=3, seconds=-1)) == 0
    assert sweep(LAST + timedelta(hours=3)) == 1
    assert DiaryEntry.objects.get().ended_at == messages[-1].said_at
    assert sweep(LAST + timedelta(hours=30)) == 0
    assert not Session.objects.filter(ended_at=None).exists()


def test_whoever_writes_before_beat_has_looked_begins_the_next_session(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    later = talk(mira, *GARDEN, at=LAST + timedelta(hours=9))
    assert sweep(LAST + timedelta(hours=9, minutes=5)) == 1
    assert "Rufus" not in DiaryEntry.objects.get().summary
    fresh = Session.objects.get(ended_at=None)
    assert set(fresh.messages.values_list("pk", flat=True)) == {one.pk for one in later}
    assert sweep(LAST + timedelta(hours=9, minutes=6)) == 0


def test_reminders_do_not_keep_a_talk_open(mira: Companion, talk: Talk) -> None:
    messages = talk(mira, *TEA)
    reminders = [wrote(mira, "Drink water.", LAST + timedelta(hours=4 * n)) for n in (1, 2)]
    assert sweep(LAST + timedelta(hours=8)) == 1
    assert DiaryEntry.objects.get().ended_at == messages[-1].said_at
    fresh = Session.objects.get(ended_at=None)
    assert set(fresh.messages.all()) == set(reminders)
    later = talk(mira, *GARDEN, at=LAST + timedelta(days=3))
    assert sweep(LAST + timedelta(days=4)) == 1
    assert DiaryEntry.objects.get(session=fresh).started_at == later[0].said_at


def test_days_without_beat_become_a_session_each(mira: Companion, talk: Talk) -> None:
    for day in range(4):
        talk(mira, *(TEA, GARDEN)[day % 2], at=MORNING + timedelta(days=day))
    now = MORNING + timedelta(days=10)
    assert [sweep(now) for _minute in range(5)] == [1, 1, 1, 1, 0]
    assert [one.started_at for one in DiaryEntry.objects.order_by("started_at")] == [
        MORNING + timedelta(days=day) for day in range(4)
    ]


def test_a_greeting_alone_is_no_session_to_close(mira: Companion, talk: Talk, alice: object) -> None:
    greeted = make_companion(mira.user, name="Lea", greeting="Hello, I am Lea.")
    assert sweep(greeted.created_at + timedelta(days=3)) == 0
    assert greeted.sessions.filter(ended_at=None).exists()


def test_a_closing_that_failed_is_not_begun_again_by_itself(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    rehearsal.script({"task": "facts", "answer": "", "repeat": MAX_ATTEMPTS})
    now = LAST + timedelta(hours=8)
    for _try in range(MAX_ATTEMPTS):
        sweep(now)
        now += timedelta(hours=6)
    assert Closing.objects.get().state == "failed"
    assert sweep(now) == 0
    run(ask_to_close(mira, now), clock_at(now))
    assert DiaryEntry.objects.count() == 1


def test_what_is_said_after_a_failed_closing_closes_with_it(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    sweep_at = LAST + timedelta(hours=8)
    close_silent(sweep_at)
    Closing.objects.update(state="failed")
    talk(mira, *GARDEN, at=MORNING + timedelta(days=2))
    assert sweep(MORNING + timedelta(days=3)) == 1
    assert DiaryEntry.objects.get().started_at == MORNING


def test_the_sweep_asks_once_for_each(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    now = LAST + timedelta(hours=8)
    assert [close_silent(now), close_silent(now)] == [1, 0]
    assert Closing.objects.count() == 1
