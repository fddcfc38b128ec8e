"""Timers as they are set, cancelled and fired, and those that each companion is made with."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from companions.errors import TimerError
from companions.life.timers import timers
from companions.life.timers.timers import follow_time_zone, set_missing_predefined, set_predefined
from companions.models import Companion, Timer, Waking
from companions.replies.lifecycle import start
from jobs import background
from tests.fixtures.turns import make_companion

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 16, 40, tzinfo=UTC)  # 17:40 in Berlin


def a_timer(companion: Companion, schedule: str = "5min", note: str = "tea", **fields: Any) -> Timer:
    given = {"by": Timer.By.USER, "now": NOW, "is_asked_for": True, **fields}
    return timers.set_timer(companion, schedule, note, **given)


def a_waking(companion: Companion) -> Waking:
    return timers.fire(companion.timers.get(name="evening"), NOW)


# -- set ------------------------------------------------------------------------------------------------------------


def test_a_timer_is_due_when_its_schedule_says(mira: Companion) -> None:
    timer = a_timer(mira, " CRON:0 8 * * mon-fri", "  stretch \n")
    timer.refresh_from_db()
    assert (timer.schedule, timer.note, timer.state) == ("cron:0 8 * * MON-FRI", "stretch", "active")
    assert timer.due_at == timer.look_at == datetime(2026, 11, 23, 7, tzinfo=UTC)
    assert (timer.created_at, timer.ended_at, timer.by, timer.is_asked_for) == (NOW, None, "user", True)


def test_what_cannot_be_set_leaves_nothing(mira: Companion) -> None:
    before = mira.timers.count()
    for schedule, note, code in [
        ("0s", "tea", "too_soon"),
        ("5min", "x" * 1001, "note_too_long"),
        ("5min", "a\0b", "bad_note"),
        ("5min", "\ud800", "bad_note"),
    ]:
        with pytest.raises(TimerError) as refused:
            a_timer(mira, schedule, note)
        assert refused.value.code == code
    assert mira.timers.count() == before


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", ""])
def test_in_an_unknown_zone_nothing_can_be_set(mira: Companion, zone: str) -> None:
    mira.user.time_zone = zone
    with pytest.raises(TimerError) as refused:
        a_timer(mira)
    assert refused.value.code == "unknown_zone"


def test_a_companion_has_fifty_timers_at_most(mira: Companion, tian: Companion) -> None:
    made = [a_timer(mira, note=str(n)) for n in range(timers.MAX_ACTIVE - mira.timers.count())]
    with pytest.raises(TimerError) as refused:
        a_timer(mira)
    assert (refused.value.code, refused.value.status) == ("too_many_timers", 409)
    assert a_timer(tian)
    timers.cancel(made[0], NOW)
    assert a_timer(mira)
    with pytest.raises(TimerError) as refused:
        timers.restart(made[0], NOW)
    assert refused.value.code == "too_many_timers"


def test_in_one_turn_ten_are_set_at_most_and_the_same_one_once(mira: Companion) -> None:
    message, other = start(mira, "Hello", None, NOW).message, start(mira, "And now", None, NOW).message
    for n in range(timers.MAX_AT_ONCE):
        a_timer(mira, note=str(n), message=message)
    with pytest.raises(TimerError) as refused:
        a_timer(mira, message=message)
    assert (refused.value.code, refused.value.status) == ("too_many_at_once", 409)
    assert a_timer(mira, note="0", message=message) == mira.timers.get(note="0")
    assert a_timer(mira, message=other)
    assert a_timer(mira, waking=a_waking(mira))


def test_the_same_again_is_the_same_unless_it_was_cancelled(mira: Companion) -> None:
    message = start(mira, "Hello", None, NOW).message
    timer = a_timer(mira, message=message)
    assert a_timer(mira, message=message, now=NOW + timedelta(seconds=9)) == timer
    Timer.objects.filter(pk=timer.pk).update(state=Timer.State.ENDED)
    assert a_timer(mira, message=message) == timer
    Timer.objects.filter(pk=timer.pk).update(state=Timer.State.CANCELLED)
    assert a_timer(mira, message=message) != timer
    moment = a_timer(mira, "once:2026-11-21 17:41", message=message)
    late = NOW + timedelta(minutes=9)  # taken over after it was due
    assert a_timer(mira, "once:2026-11-21 17:41", message=message, now=late) == moment
    waking = a_waking(mira)
    assert a_timer(mira, waking=waking) == a_timer(mira, waking=waking)
    assert a_timer(mira) != a_timer(mira)  # outside of turns each is one of its own


# -- cancel, fire, and what is planned ------------------------------------------------------------------------------


def test_a_cancelled_timer_is_planned_no_more(mira: Companion) -> None:
    timer = a_timer(mira)
    assert timers.get_planned(mira.pk).first() == timer
    assert timers.cancel(timer, NOW)
    assert not timers.cancel(timer, NOW + timedelta(days=1))
    timer.refresh_from_db()
    assert (timer.state, timer.ended_at) == ("cancelled", NOW)
    assert timer not in timers.get_planned(mira.pk)
    assert timers.get_upcoming(timer, mira.user.zone) == []


def test_one_set_aside_can_be_cancelled_and_fired(mira: Companion) -> None:
    timer = a_timer(mira)
    Timer.objects.filter(pk=timer.pk).update(state=Timer.State.DEAD_LETTER, due_at=None, look_at=None)
    assert timers.fire(timer, NOW)
    assert timers.cancel(timer, NOW)


def test_fired_by_hand_it_wakes_now_and_stays_due(mira: Companion) -> None:
    timer = a_timer(mira, note="tea", is_asked_for=False, by=Timer.By.COMPANION)
    waking, asked = timers.fire(timer, NOW), timers.fire(timer, NOW + timedelta(seconds=1), is_asked_for=True)
    assert (waking.origin, waking.state, waking.due_at, waking.look_at) == ("forced", "waiting", NOW, NOW)
    assert (waking.note, waking.companion, waking.timer) == ("tea", mira, timer)
    assert (waking.is_asked_for, asked.is_asked_for) == (False, True)
    due = timer.due_at
    timer.refresh_from_db()
    assert (timer.due_at, timer.state) == (due, "active")


@pytest.mark.parametrize("state", ["ended", "cancelled"])
def test_what_has_ended_is_not_fired(mira: Companion, state: str) -> None:
    timer = a_timer(mira)
    Timer.objects.filter(pk=timer.pk).update(state=state)
    with pytest.raises(TimerError) as refused:
        timers.fire(timer, NOW)
    assert (refused.value.code, refused.value.status) == ("timer_over", 409)
    assert not mira.wakings.exists()


def test_what_is_planned_comes_in_its_order_and_is_ones_own(mira: Companion, tian: Companion) -> None:
    late, soon = a_timer(mira, "2h"), a_timer(mira, "30s")
    a_timer(tian, "1s")
    assert list(timers.get_planned(mira.pk).filter(name="")) == [soon, late]


def test_the_next_five_are_told_from_the_next_due_time_on(mira: Companion) -> None:
    zone, timer = mira.user.zone, a_timer(mira, "cron:0 8 * * *")
    timer.due_at = datetime(2026, 10, 23, 6, tzinfo=UTC)
    days = [at.astimezone(zone).isoformat() for at in timers.get_upcoming(timer, zone)]
    assert days[:3] == ["2026-10-23T08:00:00+02:00", "2026-10-24T08:00:00+02:00", "2026-10-25T08:00:00+01:00"]
    assert len(days) == 5
    once = a_timer(mira, "30s")
    assert timers.get_upcoming(once, zone) == [once.due_at]
    assert timers.describe(timer, zone, "en") == "every day at 08:00"


def test_a_schedule_that_cannot_be_read_is_shown_as_it_is(mira: Companion) -> None:
    timer = a_timer(mira)
    timer.schedule = "moon:full"
    assert timers.describe(timer, mira.user.zone, "en") == "moon:full"
    assert timers.get_upcoming(timer, mira.user.zone) == []


# -- predefined -----------------------------------------------------------------------------------------------------


def test_a_companion_is_made_with_an_evening_and_a_morning(alice: User) -> None:
    mira = make_companion(alice)
    made = {one.name: one for one in mira.timers.all()}
    assert {name: one.schedule for name, one in made.items()} == {
        "evening": "cron:55 22 * * *",
        "morning": "cron:0 8 * * *",
    }
    for one in made.values():
        assert (one.by, one.is_asked_for, one.state) == ("kith", False, "active")
        assert one.note
        assert one.due_at == one.look_at
    there = {name: f"{one.due_at.astimezone(alice.zone):%H:%M}" for name, one in made.items() if one.due_at}
    assert there == {"evening": "22:55", "morning": "08:00"}


def test_predefined_timers_are_made_once_and_stay_cancelled(mira: Companion) -> None:
    evening = mira.timers.get(name="evening")
    timers.cancel(evening, NOW)
    assert set_predefined(mira, NOW) == 0
    assert set_missing_predefined(NOW) == 0
    evening.refresh_from_db()
    assert evening.state == "cancelled"
    with pytest.raises(IntegrityError), transaction.atomic():
        Timer.objects.create(companion=mira, schedule="1d", name="evening", by="kith", created_at=NOW)


def test_whoever_lacks_one_gets_it_and_one_in_an_unknown_zone_holds_up_nobody(
    mira: Companion, tian: Companion, bob: User
) -> None:
    mira.timers.all().delete()
    tian.timers.filter(name="morning").delete()
    User.objects.filter(pk=mira.user_id).update(time_zone="Mars/Olympus")
    assert set_missing_predefined(NOW) == 1
    assert not mira.timers.exists()
    morning = tian.timers.get(name="morning")
    assert morning.due_at == datetime(2026, 11, 22, 0, tzinfo=UTC)  # eight in Shanghai
    User.objects.filter(pk=mira.user_id).update(time_zone="Europe/Berlin")
    assert set_missing_predefined(NOW) == 2
    assert set_missing_predefined(NOW) == 0


def test_a_companion_that_is_gone_gets_none(mira: Companion) -> None:
    Companion.objects.filter(pk=mira.pk).delete()
    assert set_predefined(mira, NOW) == 0


# -- nudges ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def nudges(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> Any:
    """What is asked of workers after the commits of a deed."""
    asked: list[tuple[str, tuple[str, ...], float]] = []

    def take(_send: object, task_name: str, ids: tuple[str, ...], seconds: float) -> None:
        asked.append((task_name.rpartition(".")[2], ids, seconds))

    def after(deed: Any) -> Any:
        asked.clear()
        with django_capture_on_commit_callbacks(execute=True):
            done = deed()
        return done, list(asked)

    monkeypatch.setattr(background.SENDER, "submit", take)
    return after


def test_a_tick_is_asked_for_right_when_a_near_timer_is_due(mira: Companion, nudges: Any) -> None:
    assert nudges(lambda: a_timer(mira, "30s"))[1] == [("tick", (), 30.0)]
    assert nudges(lambda: a_timer(mira, "3min"))[1] == []


def test_a_fired_timer_wakes_at_once(mira: Companion, nudges: Any) -> None:
    waking, asked = nudges(lambda: a_waking(mira))
    assert asked == [("wake", (str(waking.pk),), 0.0)]


# -- another zone ---------------------------------------------------------------------------------------------------


def test_timers_follow_the_person_into_another_zone(mira: Companion, tian: Companion) -> None:
    """From Berlin to New York, six hours behind; what is due after a length of time stays."""
    morning, length = mira.timers.get(name="morning"), a_timer(mira, "2h", now=timezone.now())
    day = (timezone.now() + timedelta(days=40)).astimezone(UTC).date()
    once = a_timer(mira, f"once:{day} 09:00", now=timezone.now())
    others = tian.timers.get(name="morning").due_at
    mira.user.time_zone = "America/New_York"
    mira.user.save()
    for timer in (morning, length, once):
        before = timer.due_at
        timer.refresh_from_db()
        assert timer.due_at == timer.look_at
        assert (timer.due_at == before) == (timer == length)
    there = [one.due_at.astimezone(mira.user.zone) for one in (morning, once) if one.due_at]
    assert [f"{at:%H:%M}" for at in there] == ["08:00", "09:00"]
    assert there[1].date() == day
    assert tian.timers.get(name="morning").due_at == others


def test_a_timer_on_a_branch_that_is_not_chosen_moves_too(mira: Companion) -> None:
    daily = a_timer(mira, "cron:30 21 * * *", now=timezone.now())
    Timer.objects.filter(pk=daily.pk).update(is_asleep=True)
    mira.user.time_zone = "America/New_York"
    mira.user.save()
    moved = Timer.everywhere.get(pk=daily.pk)
    assert moved.due_at
    assert f"{moved.due_at.astimezone(mira.user.zone):%H:%M}" == "21:30"


def test_what_is_due_already_or_over_stays_when_the_person_moves(mira: Companion) -> None:
    now = timezone.now()
    mira.timers.filter(name="morning").update(due_at=now - timedelta(minutes=1))
    mira.timers.filter(name="evening").update(state=Timer.State.CANCELLED)
    before = list(mira.timers.values_list("pk", "due_at", "look_at"))
    mira.user.time_zone = "America/New_York"
    mira.user.save(update_fields=["time_zone"])
    assert list(mira.timers.values_list("pk", "due_at", "look_at")) == before


def test_other_changes_of_a_person_touch_no_timer(mira: Companion, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        mira.user.save(update_fields=["last_login"])
    assert follow_time_zone(mira.user, timezone.now()) == 0
