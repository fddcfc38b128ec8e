"""The page of timers: the form with its next due times, and what may be done with each."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.life.timers import timers
from companions.life.timers.timers import set_timer
from companions.models import Companion, Timer, Waking
from tests.fixtures.turns import make_companion
from tests.pages.conftest import Told, answered

pytestmark = pytest.mark.usefixtures("module_mira")
SENT = {"kind": "after", "amount": "30", "unit": "min", "note": "Tea"}


def path(companion: Companion, rest: str = "") -> str:
    return f"/companions/{companion.pk}/timers/{rest}"


def page(client: Client, companion: Companion) -> str:
    return client.get(path(companion)).content.decode()


def made(companion: Companion, schedule: str = "2h", note: str = "Stretch", **fields: Any) -> Timer:
    given: dict[str, Any] = {"by": Timer.By.USER, "now": timezone.now(), "is_asked_for": True}
    return set_timer(companion, schedule, note, **given | fields)


def test_the_form_begins_with_what_a_message_asks_for(at_home: Client, mira: Companion, bob: User) -> None:
    mine = answered(
        mira, "I slept badly. Could you remind me in two minutes to drink some water?", "Yes!"
    ).message_id
    assert ">\ndrink some water" in at_home.get(f"{path(mira)}?message={mine}").content.decode()
    at_home.post(path(mira, "add/"), SENT | {"message": str(mine)})
    assert Timer.objects.get(companion=mira, by="user").message_id == mine
    theirs = answered(make_companion(bob), "Remind me to rob the bank.", "Yes!").message_id
    for other in (theirs, uuid4(), "x"):
        shown = at_home.get(f"{path(mira)}?message={other}")
        assert shown.status_code == 200
        assert "rob the bank" not in shown.content.decode()
    at_home.post(path(mira, "add/"), SENT | {"message": str(theirs), "note": "Coffee"})
    assert Timer.objects.get(companion=mira, note="Coffee").message_id is None


@pytest.mark.parametrize(
    ("sent", "schedule"),
    [
        ({}, "30min"),
        ({"unit": "h", "amount": "2"}, "2h"),
        ({"kind": "once", "at": "2030-04-10T09:00"}, "once:2030-04-10 09:00"),
        ({"kind": "every", "days": "*", "time": "08:05"}, "cron:5 8 * * *"),
        ({"kind": "every", "days": "1-5", "time": "08:00"}, "cron:0 8 * * 1-5"),
        ({"kind": "every", "days": "0", "time": "20:30"}, "cron:30 20 * * 0"),
        ({"kind": "cron", "cron": "0 9 1 * *"}, "cron:0 9 1 * *"),
        ({"kind": "cron", "cron": "0 9 1 * *", "amount": "none", "time": "late"}, "cron:0 9 1 * *"),
    ],
)
def test_each_plain_choice_becomes_a_timer(
    at_home: Client, mira: Companion, sent: dict[str, str], schedule: str
) -> None:
    assert at_home.post(path(mira, "add/"), SENT | sent)["Location"] == path(mira)
    timer = Timer.objects.get(companion=mira, by="user")
    assert (timer.schedule, timer.note, timer.is_asked_for) == (schedule, "Tea", True)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"amount": ""}, "amount"),
        ({"amount": "0"}, "amount"),
        ({"amount": "9" * 30}, "amount"),
        ({"amount": "9000", "unit": "d"}, "amount"),
        ({"unit": "y"}, "unit"),
        ({"kind": "once"}, "at"),
        ({"kind": "once", "at": "2020-04-10T09:00"}, "at"),
        ({"kind": "once", "at": "2030-02-30T09:00"}, "at"),
        ({"kind": "every"}, "time"),
        ({"kind": "every", "time": "25:00"}, "time"),
        ({"kind": "cron", "cron": "60 8 * * *"}, "cron"),
        ({"kind": "cron", "cron": "* * * * *"}, "cron"),
        ({"kind": "never"}, "kind"),
        ({"note": "n" * 1001}, "note"),
        ({"note": "n\x00"}, "note"),
    ],
)
def test_what_cannot_be_set_gets_the_form_back_with_why(
    at_home: Client, mira: Companion, sent: dict[str, str], field: str
) -> None:
    response = at_home.post(path(mira, "add/"), SENT | sent)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert "field-error" in response.content.decode()
    assert not Timer.objects.filter(by="user").exists()


@pytest.mark.parametrize(
    ("method", "data", "is_first"),
    [("get", {}, False), ("get", {"kind": "cron"}, True), ("post", SENT | {"amount": "0"}, True)],
)
def test_the_form_stands_first_where_it_was_begun(
    at_home: Client, mira: Companion, method: str, data: dict[str, str], is_first: bool
) -> None:
    made(mira)
    page = path(mira, "add/" if method == "post" else "")
    shown = getattr(at_home, method)(page, data).content.decode()
    assert shown.count("timer-form") == 1
    assert (shown.index("timer-form") < shown.index("timers-planned")) == is_first


def test_the_form_stands_first_until_there_are_reminders_beside_the_companions_own(
    at_home: Client, mira: Companion
) -> None:
    before = page(at_home, mira)
    assert before.index("timer-form") < before.index("timers-planned") < before.index("The day is ending")
    assert "Nothing is planned." in before
    made(mira)
    after = page(at_home, mira)
    assert after.index("timers-planned") < after.index("Stretch") < after.index("timer-form")
    assert after.index("timer-form") < after.index("timers-daily") < after.index("The day is ending")


def test_the_next_five_times_are_shown_before_it_is_set(at_home: Client, mira: Companion) -> None:
    asked = {"kind": "every", "days": "1", "time": "08:00"}
    shown = at_home.get(path(mira, "preview/"), asked, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in shown
    assert "every Monday at 08:00" in shown
    assert shown.count("<time") == 5
    assert shown.count("Monday, ") == 5
    whole = at_home.post(path(mira, "add/"), asked | {"look": "yes"}).content.decode()
    assert "every Monday at 08:00" in whole
    assert not Timer.objects.filter(by="user").exists()


def test_the_preview_says_what_is_wrong(at_home: Client, mira: Companion) -> None:
    asked = {"kind": "cron", "cron": "60 8 * * *"}
    shown = at_home.get(path(mira, "preview/"), asked, headers={"HX-Request": "true"}).content.decode()
    assert "Minutes in a cron go from 0 to 59." in shown


@pytest.mark.parametrize("kind", ["once", "every", "cron"])
def test_nothing_is_wrong_before_a_time_is_written(at_home: Client, mira: Companion, kind: str) -> None:
    asked = {"kind": kind, "at": "", "time": "", "cron": ""}
    shown = at_home.get(path(mira, "preview/"), asked, headers={"HX-Request": "true"}).content.decode()
    assert "You will see here when it is due." in shown
    assert "required" not in shown


def test_more_than_fifty_are_refused(at_home: Client, mira: Companion) -> None:
    now = timezone.now()
    row = {
        "companion": mira,
        "schedule": "1d",
        "by": "user",
        "due_at": now,
        "look_at": now,
        "created_at": now,
    }
    Timer.objects.bulk_create([Timer(**row) for _ in range(timers.MAX_ACTIVE)])
    response = at_home.post(path(mira, "add/"), SENT)
    assert response.status_code == 422
    assert "There are already 50 timers" in response.content.decode()


def test_a_timer_says_who_set_it_and_why(at_home: Client, told: Told) -> None:
    made(told.companion, "cron:0 8 * * 1-5", "Wake <b>me</b>", by=Timer.By.COMPANION, message=told.message)
    shown = page(at_home, told.companion)
    assert "every weekday at 08:00" in shown
    assert "Wake &lt;b&gt;me&lt;/b&gt;" in shown
    assert "set by Mira" in shown
    assert "when you said “I have an exam on Friday”" in shown
    assert f"#message-{told.message.pk}" in shown
    assert "Mira has always had it" in shown


def test_one_that_comes_once_is_told_by_its_time(at_home: Client, mira: Companion) -> None:
    """“In two hours” is no longer true an hour later."""
    due = made(mira).due_at
    assert due is not None
    shown = page(at_home, mira)
    assert f'<h4><time datetime="{due.astimezone(mira.user.zone).isoformat()}' in shown
    assert "next: " not in shown.split("Stretch")[0].split("<h4>")[-1]


def test_a_timer_is_cancelled(at_home: Client, mira: Companion) -> None:
    timer = made(mira)
    shown = at_home.post(path(mira, f"{timer.pk}/cancel/"), follow=True).content.decode()
    assert "The reminder has been cancelled." in shown
    assert "Stretch" not in shown
    again = at_home.post(path(mira, f"{timer.pk}/cancel/"), follow=True).content.decode()
    assert "This reminder has ended." in again


def test_a_timer_is_fired_now_and_stays(at_home: Client, mira: Companion) -> None:
    timer = made(mira)
    shown = at_home.post(path(mira, f"{timer.pk}/fire/"), follow=True).content.decode()
    assert "Mira is waking for it now." in shown
    waking = Waking.objects.get(timer=timer)
    assert (waking.origin, waking.note, waking.is_asked_for) == ("forced", "Stretch", True)
    due = timer.due_at
    timer.refresh_from_db()
    assert (timer.state, timer.due_at) == ("active", due)
    timers.cancel(timer, timezone.now())
    refused = at_home.post(path(mira, f"{timer.pk}/fire/"), follow=True).content.decode()
    assert "This reminder has ended." in refused


def test_the_morning_can_be_cancelled_and_set_again(at_home: Client, mira: Companion) -> None:
    morning = Timer.objects.get(companion=mira, name="morning")
    at_home.post(path(mira, f"{morning.pk}/cancel/"))
    assert "Set it again" in page(at_home, mira)
    at_home.post(path(mira, f"{morning.pk}/again/"))
    morning.refresh_from_db()
    assert (morning.state, morning.ended_at) == ("active", None)
    assert morning.due_at is not None
    assert timezone.now() < morning.due_at <= timezone.now() + timedelta(hours=25)
    assert "Set it again" not in page(at_home, mira)


def test_one_that_was_set_aside_is_told_and_cannot_be_read_again(at_home: Client, mira: Companion) -> None:
    timer = made(mira)
    Timer.objects.filter(pk=timer.pk).update(
        state="set_aside", schedule="nonsense", due_at=None, look_at=None, error="bad_schedule"
    )
    assert "Set aside: its schedule could not be read." in page(at_home, mira)
    refused = at_home.post(path(mira, f"{timer.pk}/again/"), follow=True).content.decode()
    assert "This is not a schedule." in refused
    timer.refresh_from_db()
    assert timer.state == "set_aside"


def test_in_an_unknown_zone_the_page_opens_and_says_so(at_home: Client, alice: User, mira: Companion) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Mars/Base")
    assert at_home.get(path(mira)).status_code == 200
    response = at_home.post(path(mira, "add/"), SENT)
    assert response.status_code == 422
    assert "Kith does not know the time zone Mars/Base." in response.content.decode()
