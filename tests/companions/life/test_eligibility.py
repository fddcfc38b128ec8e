"""A waking that must not be is skipped, with its reason and without a model; what was asked for hardly ever is."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from accounts.models import ModelCall
from companions.models import Companion, Waking
from tests.companions.life.waking import ran, say, woken
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)  # twelve in Berlin
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DRIVE = {"origin": "drive", "timer": None, "drive": "long_silence", "is_asked_for": False}


def reason(waking: Waking, now: datetime = NOON) -> str:
    """Why it was skipped; empty where it was not."""
    waking = ran(waking, now)
    assert (waking.state == "skipped") == bool(waking.reason)
    assert waking.state in {"skipped", "done"}
    return waking.reason


def set_life(companion: Companion, **fields: Any) -> None:
    type(companion.life).objects.filter(companion=companion).update(**fields)


def spend(companion: Companion, tokens: int) -> None:
    call = {"purpose": "answer", "prompt_tokens": tokens, "started_at": NOON - HOUR}
    ModelCall.objects.create(user=companion.user, companion=companion, **call)


def test_a_life_that_is_turned_off_sleeps_on_but_reminds(mira: Companion, rehearsal: RehearsalServer) -> None:
    set_life(mira, is_awake=False)
    assert reason(woken(mira, NOON, is_asked_for=False)) == "life_off"
    assert reason(woken(mira, NOON, origin="forced", is_asked_for=False)) == "life_off"
    assert rehearsal.requests() == []
    assert reason(woken(mira, NOON)) == ""


@pytest.mark.parametrize(
    ("since", "until", "is_asleep"),
    [
        (time(11), time(13), True),
        (time(22), time(12, 1), True),
        (time(12), time(6), True),
        (time(22), time(12), False),
        (time(12), time(12), False),
        (time(23, 30), time(7), False),
    ],
)
def test_no_drive_wakes_it_in_its_hours_of_sleep_in_the_persons_zone(
    mira: Companion, since: time, until: time, is_asleep: bool
) -> None:
    set_life(mira, sleeps_from=since, sleeps_until=until)
    assert reason(woken(mira, NOON, drive_key="1", **DRIVE)) == ("asleep" if is_asleep else "")
    assert reason(woken(mira, NOON, is_asked_for=False)) == ""


def test_what_nobody_asked_for_is_not_made_up_for_after_a_quarter_of_a_day(mira: Companion) -> None:
    assert reason(woken(mira, NOON - 6 * HOUR, is_asked_for=False)) == ""
    assert reason(woken(mira, NOON - 6 * HOUR - timedelta(seconds=1), is_asked_for=False)) == "too_late"
    assert reason(woken(mira, NOON - 30 * DAY)) == ""


def test_the_evening_looks_back_only_on_a_day_of_which_there_is_something(mira: Companion) -> None:
    evening = {"name": "evening", "is_asked_for": False}
    assert reason(woken(mira, NOON, **evening)) == "nothing_new"
    say(mira, "Hello", at=NOON + HOUR)
    assert reason(woken(mira, NOON + DAY, **evening), NOON + DAY) == ""
    assert reason(woken(mira, NOON + 2 * DAY, **evening), NOON + 2 * DAY) == "nothing_new"
    say(mira, "Again", at=NOON + 2 * DAY + HOUR)
    assert reason(woken(mira, NOON + 3 * DAY, **evening), NOON + 3 * DAY) == ""
    forced = woken(mira, NOON + 3 * DAY + HOUR, origin="forced", **evening)
    assert reason(forced, NOON + 3 * DAY + HOUR) == ""


@pytest.mark.parametrize("name", ["evening", ""])
def test_the_log_tells_once_and_not_each_day_that_nothing_came(mira: Companion, name: str) -> None:
    say(mira, "Hello", at=NOON - 60 * DAY)
    first = woken(mira, NOON, name=name, is_asked_for=False)
    Waking.objects.filter(pk=first.pk).update(state="done")
    for days in range(1, 4):
        at = NOON + days * DAY
        waking = Waking.objects.create(
            companion=mira, timer=first.timer, origin="timer", due_at=at, look_at=at, created_at=at
        )
        assert reason(waking, at) == "nothing_new"
        assert list(Waking.objects.filter(state="skipped")) == [waking]
    assert set(Waking.objects.values_list("state", flat=True)) == {"done", "skipped"}


def test_it_wakes_so_often_in_the_persons_day_and_then_no_more(mira: Companion, settings: Any) -> None:
    settings.LIFE_WAKINGS_PER_DAY = 2
    midnight = NOON + 12 * HOUR  # in Berlin
    for at in (NOON - 13 * HOUR, NOON, NOON + HOUR):  # the first yesterday; all were begun by a dead worker
        assert reason(woken(mira, at, started_at=at), at) == ""
    assert reason(woken(mira, NOON + 2 * HOUR), NOON + 2 * HOUR) == "too_many_a_day"
    assert reason(woken(mira, midnight), midnight) == ""


def test_the_log_keeps_what_lies_before_a_waking(mira: Companion) -> None:
    say(mira, "Hello", at=NOON - 60 * DAY)
    first = woken(mira, NOON, name="evening", is_asked_for=False)
    Waking.objects.filter(pk=first.pk).update(state="skipped", reason="nothing_new", started_at=None)
    for days, state in ((1, "done"), (2, "skipped")):
        at = NOON + days * DAY
        waking = Waking.objects.create(
            companion=mira, timer=first.timer, origin="timer", due_at=at, look_at=at, created_at=at
        )
        if state == "done":
            Waking.objects.filter(pk=waking.pk).update(state="done")
        else:
            assert reason(waking, at) == "nothing_new"
    assert list(Waking.objects.order_by("due_at").values_list("state", flat=True)) == [
        "skipped",
        "done",
        "skipped",
    ]


def test_the_log_keeps_each_reminder_that_was_skipped(mira: Companion, settings: Any) -> None:
    settings.LIFE_WAKINGS_PER_DAY = 0
    first = woken(mira, NOON)
    assert reason(first) == "too_many_a_day"
    again = woken(mira, NOON + HOUR)
    Waking.objects.filter(pk=again.pk).update(timer=first.timer_id)
    assert reason(again, NOON + HOUR) == "too_many_a_day"
    assert Waking.objects.filter(state="skipped").count() == 2


def test_the_log_keeps_a_waking_that_was_skipped_for_another_reason(mira: Companion) -> None:
    say(mira, "Hello", at=NOON - 60 * DAY)
    first = woken(mira, NOON - 2 * DAY, name="evening", is_asked_for=False)
    Waking.objects.filter(pk=first.pk).update(state="done")
    for days, why in ((1, "asleep"), (0, "")):
        waking = Waking.objects.create(
            companion=mira, timer=first.timer, origin="timer", due_at=NOON - days * DAY, look_at=NOON,
            created_at=NOON, state="skipped" if why else "waiting", reason=why,
        )  # fmt: skip
    assert reason(waking, NOON) == "nothing_new"
    assert set(Waking.objects.filter(state="skipped").values_list("reason", flat=True)) == {
        "asleep",
        "nothing_new",
    }


def test_what_is_due_before_midnight_counts_for_its_day(mira: Companion, settings: Any) -> None:
    settings.LIFE_WAKINGS_PER_DAY = 2
    late = [woken(mira, NOON - 14 * HOUR) for _ in range(3)]
    assert [reason(one) for one in late] == ["", "", "too_many_a_day"]


def test_after_a_downtime_no_reminder_is_lost_for_coming_with_many_others(
    mira: Companion, settings: Any
) -> None:
    settings.LIFE_WAKINGS_PER_DAY = 2
    late = [woken(mira, NOON - (days + 1) * DAY) for days in range(4)]
    today = [woken(mira, NOON - HOUR), woken(mira, NOON), woken(mira, NOON)]
    assert [reason(one) for one in [*late, *today]] == [""] * 6 + ["too_many_a_day"]


def test_half_of_a_days_tokens_is_kept_for_talk_and_reminders(mira: Companion, settings: Any) -> None:
    settings.TOKENS_PER_DAY = 100_000
    spend(mira, 60_000)
    assert reason(woken(mira, NOON, is_asked_for=False)) == "no_tokens"
    assert reason(woken(mira, NOON)) == ""
    spend(mira, 40_000)
    assert reason(woken(mira, NOON, "")) == "no_tokens"


def test_one_that_has_begun_is_not_skipped_any_more(mira: Companion, rehearsal: RehearsalServer) -> None:
    step = {"round": 1, "id": "1", "name": "think", "arguments": "{}", "result": {}}
    waking = woken(mira, NOON - 2 * DAY, is_asked_for=False, steps=[step])
    assert reason(waking) == ""
    assert ran(waking, NOON).outcome == "silent"
