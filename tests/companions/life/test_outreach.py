"""Each message reaches each address at most once: attempted before it is sent, and dropped where it was read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from companions.life import outreach, tasks
from companions.life.outreach import Sent, count_unread, mark_read
from companions.models import Companion, Delivery, Life, Reply, Waking
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import process_name, start
from tests.companions.life.waking import NOON, send_due_deliveries, wrote

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


@dataclass
class Bell:
    """A channel that keeps what it was given."""

    name: str = "bell"
    gathers: bool = False
    tells_answers: bool = True
    after: timedelta = timedelta(seconds=5)
    pause: timedelta = timedelta(0)
    rung: list[list[str]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    error: str = ""
    is_down: bool = False

    def find_obstacle(self) -> str:
        return ""

    def wanted(self, life: Life) -> bool:
        return life.by_push

    def addresses(self, user: User) -> Sequence[str]:
        return ["front", "back"]

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        self.rung.append([f"{one.destination}: {one.message.text}" for one in deliveries])
        self.states += Delivery.objects.filter(pk__in=[one.pk for one in deliveries]).values_list(
            "state", flat=True
        )
        return Sent(self.error, is_postponed=self.is_down, is_down=self.is_down)


@pytest.fixture
def bell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bell]:
    """The only channel there is."""
    one = Bell()
    monkeypatch.setattr(outreach, "channels", {one.name: one})
    return one


def states(**fields: Any) -> list[str]:
    return list(Delivery.objects.filter(**fields).order_by("destination").values_list("state", flat=True))


def test_a_message_goes_once_to_each_address(mira: Companion, bell: Bell) -> None:
    wrote(mira, "Hello")
    assert send_due_deliveries(NOON) == 0  # it may still be read
    assert send_due_deliveries(NOON + 5 * MINUTE) == 2
    assert send_due_deliveries(NOON + 5 * MINUTE) == 0
    assert sorted(bell.rung) == [["back: Hello"], ["front: Hello"]]
    assert bell.states == ["attempted", "attempted"]
    assert states() == ["sent", "sent"]


def answer(companion: Companion, seconds: int) -> None:
    """An answer to "Hello" that came after so many seconds."""
    reply = start(companion, "Hello", None, NOON, at_once=True).reply
    ended_at = NOON + timedelta(seconds=seconds)
    assert finish(reply, Reply.State.DONE, Said(text="At last."), ended_at, held_by=process_name())


def test_an_answer_that_was_long_in_coming_is_told_to_who_has_left(mira: Companion, bell: Bell) -> None:
    Life.objects.filter(companion=mira).update(quiet_from=time(0), quiet_until=time(23, 59))
    answer(mira, 10)
    assert send_due_deliveries(NOON + MINUTE) == 2
    assert sorted(bell.rung) == [["back: At last."], ["front: At last."]]


def test_a_quick_answer_is_told_nowhere_and_no_answer_by_mail(mira: Companion, bell: Bell) -> None:
    answer(mira, 9)
    bell.tells_answers = False
    answer(mira, 60)
    assert not Delivery.objects.exists()


def test_an_answer_that_was_read_is_told_nowhere(mira: Companion, bell: Bell) -> None:
    answer(mira, 10)
    mark_read(mira, NOON + MINUTE)
    assert send_due_deliveries(NOON + MINUTE) == 0
    assert bell.rung == []


def test_delivered_twice_it_goes_once(mira: Companion, bell: Bell) -> None:
    message = wrote(mira, "Hello")
    outreach.deliver(message, NOON + MINUTE)
    assert Delivery.objects.count() == 2


def test_who_dies_in_sending_takes_no_other_delivery_along(mira: Companion, bell: Bell) -> None:
    wrote(mira, "Hello")

    def die(deliveries: Sequence[Delivery], now: datetime) -> Sent:
        raise KeyboardInterrupt

    bell.send = die  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        send_due_deliveries(NOON + HOUR)
    del bell.send  # type: ignore[method-assign]
    assert send_due_deliveries(NOON + HOUR) == 0  # for some minutes it is still the dead one's
    assert send_due_deliveries(NOON + 2 * HOUR) == 1
    assert (sorted(states()), len(bell.rung)) == (["attempted", "sent"], 1)


def test_what_comes_into_the_quiet_hours_waits_for_the_morning(mira: Companion, bell: Bell) -> None:
    """After a downtime, or as a mail that waits for others."""
    wrote(mira, "Hello")
    assert send_due_deliveries(NOON + 14 * HOUR) == 0  # two at night in Berlin
    assert send_due_deliveries(NOON + 19 * HOUR) == 0
    assert states() == ["waiting", "waiting"]
    assert send_due_deliveries(NOON + 20 * HOUR) == 2


def test_what_was_asked_for_comes_at_night(mira: Companion, bell: Bell) -> None:
    wrote(mira, "Hello")
    Waking.objects.update(is_asked_for=True, due_at=NOON - 10 * MINUTE)
    assert send_due_deliveries(NOON + 14 * HOUR) == 2


def test_a_reminder_that_comes_hours_late_wakes_nobody_at_night(mira: Companion, bell: Bell) -> None:
    wrote(mira, "You wanted to be reminded: call Ana.", NOON + 14 * HOUR)
    Waking.objects.update(is_asked_for=True, due_at=NOON)
    assert send_due_deliveries(NOON + 14 * HOUR + MINUTE) == 0
    assert send_due_deliveries(NOON + 20 * HOUR) == 2


def test_what_nobody_asked_for_does_not_come_days_late(mira: Companion, bell: Bell) -> None:
    """Kith was switched off meanwhile."""
    wrote(mira, "Sleep well")
    assert send_due_deliveries(NOON + 49 * HOUR) == 0
    assert (states(), bell.rung) == (["dropped", "dropped"], [])


def test_what_was_asked_for_comes_however_late(mira: Companion, bell: Bell) -> None:
    wrote(mira, "You asked me to remind you: call Ana.")
    Waking.objects.update(is_asked_for=True)
    assert send_due_deliveries(NOON + 200 * 24 * HOUR) == 2


def test_nobody_waits_for_the_devices_of_others(mira: Companion, tian: Companion, bell: Bell) -> None:
    wrote(mira, "Hello")
    wrote(tian, "你好")
    at = NOON + MINUTE
    assert outreach.find_recipients(NOON) == []
    assert outreach.find_recipients(at) == sorted([mira.user_id, tian.user_id])

    def send_meanwhile(deliveries: Sequence[Delivery], now: datetime) -> Sent:
        if deliveries[0].companion == mira and not states(companion=tian, state="sent"):
            assert outreach.send_due_deliveries(now, tian.user_id) == 2
        return Bell.send(bell, deliveries, now)

    bell.send = send_meanwhile  # type: ignore[method-assign]
    assert outreach.send_due_deliveries(at, mira.user_id) == 2
    assert outreach.find_recipients(at) == []


def test_what_others_were_sent_costs_nobody_a_query(mira: Companion, tian: Companion, bell: Bell) -> None:
    bell.gathers, bell.pause = True, HOUR

    def queries(at: datetime) -> int:
        wrote(mira, "Hello")
        with CaptureQueriesContext(connection) as made:
            assert outreach.send_due_deliveries(at, mira.user_id) == 2
        return len(made)

    alone = queries(NOON + MINUTE)
    wrote(tian, "你好")
    assert outreach.send_due_deliveries(NOON + 2 * HOUR, tian.user_id) == 2
    assert queries(NOON + 2 * HOUR) == alone


def test_a_lane_that_is_at_work_is_left_alone(
    mira: Companion, tian: Companion, bell: Bell, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, list[int]]] = []
    monkeypatch.setattr(tasks.send_deliveries_to, "apply_async", lambda lane, expires: sent.append(lane))
    wrote(mira, "Hello")
    wrote(tian, "你好")
    monkeypatch.setattr(tasks.timezone, "now", lambda: NOON + MINUTE)
    tasks.send_deliveries()
    assert sent == [(0, [min(mira.user_id, tian.user_id)]), (1, [max(mira.user_id, tian.user_id)])]
    with tasks.SENDING.take(0):
        tasks.send_deliveries_to(*sent[0])
        assert not bell.rung
        tasks.send_deliveries_to(*sent[1])
    tasks.send_deliveries_to(*sent[0])
    assert len(bell.rung) == 4


def test_who_is_shut_out_is_not_reached(mira: Companion, bell: Bell) -> None:
    wrote(mira, "Hello")
    User.objects.filter(pk=mira.user_id).update(is_active=False)
    assert (send_due_deliveries(NOON + HOUR), states()) == (0, ["dropped", "dropped"])


def test_what_was_read_meanwhile_is_dropped(mira: Companion, bell: Bell) -> None:
    wrote(mira, "Hello")
    assert mark_read(mira, NOON)
    assert (send_due_deliveries(NOON + HOUR), states()) == (0, ["dropped", "dropped"])


@pytest.mark.parametrize("fields", [{"is_muted": True}, {"by_push": False}], ids=repr)
def test_what_is_not_wanted_any_more_is_dropped(mira: Companion, bell: Bell, fields: dict[str, bool]) -> None:
    wrote(mira, "Hello")
    Life.objects.filter(companion=mira).update(**fields)
    assert (send_due_deliveries(NOON + HOUR), states()) == (0, ["dropped", "dropped"])


def test_who_is_muted_is_not_even_put_on_the_way(mira: Companion, bell: Bell) -> None:
    mira.life.is_muted = True
    mira.life.save()
    wrote(mira, "Hello")
    assert not Delivery.objects.exists()


def test_what_fails_is_kept_with_its_code(mira: Companion, bell: Bell) -> None:
    bell.error = "gone"
    wrote(mira, "Hello")
    assert send_due_deliveries(NOON + HOUR) == 0
    assert set(Delivery.objects.values_list("state", "error")) == {("failed", "gone")}


def test_what_a_worker_has_taken_already_waits_as_well_once_a_channel_is_down(
    mira: Companion, bell: Bell
) -> None:
    bell.error, bell.is_down = "away", True
    wrote(mira, "Hello")
    assert (send_due_deliveries(NOON + HOUR), len(bell.rung)) == (0, 1)
    bell.error, bell.is_down = "", False
    assert send_due_deliveries(NOON + HOUR + 15 * MINUTE) == 2


def with_email(*companions: Companion) -> None:
    Life.objects.filter(companion__in=companions).update(by_email=True, by_push=False)
    for one in companions:
        one.life.refresh_from_db()


def test_a_mail_tells_of_all_that_waits_and_another_one_comes_three_hours_later(mira: Companion) -> None:
    with_email(mira)
    wrote(mira, "The trams run again.")
    wrote(mira, "And Ana wrote.", NOON + 10 * MINUTE)
    assert send_due_deliveries(NOON + 14 * MINUTE) == 0
    assert send_due_deliveries(NOON + 15 * MINUTE) == 2
    (letter,) = mail.outbox
    assert (letter.to, letter.subject) == (["alice@example.org"], "2 messages for you")
    assert "The trams run again." in letter.body
    assert f"/companions/{mira.pk}/" in letter.body
    assert (letter.body.count("Reply: "), letter.body.count("Too much?")) == (1, 1)
    assert letter.body.index("And Ana wrote.") < letter.body.index("Reply: ")
    assert "an AI" in letter.body
    wrote(mira, "One more thing.", NOON + 20 * MINUTE)
    assert send_due_deliveries(NOON + 3 * HOUR) == 0
    assert send_due_deliveries(NOON + 3 * HOUR + 15 * MINUTE) == 1
    assert mail.outbox[1].subject == "Mira wrote to you"


def test_a_mail_of_a_clock_that_was_ahead_puts_off_no_other(mira: Companion) -> None:
    with_email(mira)
    wrote(mira, "Happy new year!")
    Delivery.objects.update(state="sent", attempted_at=NOON + 365 * 24 * HOUR)
    wrote(mira, "Hello")
    assert send_due_deliveries(NOON + HOUR) == 1


def test_a_name_cannot_write_headers(mira: Companion) -> None:
    mira.name = "Mira\nBcc: eve@example.org"
    mira.save()
    with_email(mira)
    mira.refresh_from_db()
    wrote(mira, "Hello")
    send_due_deliveries(NOON + HOUR)
    assert mail.outbox[0].subject == "Mira Bcc: eve@example.org wrote to you"
    assert mail.outbox[0].recipients() == ["alice@example.org"]


def test_a_mail_is_in_the_persons_language(tian: Companion) -> None:
    with_email(tian)
    wrote(tian, "你好")
    send_due_deliveries(NOON + HOUR)
    assert mail.outbox[0].subject == "小天给你发了消息"
    assert "AI" in mail.outbox[0].body
    assert mail.outbox[0].body.startswith("小天：\n")
    assert "Reply" not in mail.outbox[0].body


def test_unread_is_counted_for_each_companion_and_read_once(
    mira: Companion, tian: Companion, bell: Bell
) -> None:
    wrote(mira, "One")
    wrote(mira, "Two", NOON + MINUTE)
    wrote(tian, "三")
    assert count_unread(mira.user, NOON + DAY) == {mira.pk: 2}
    assert mark_read(mira, NOON)
    assert count_unread(mira.user, NOON + DAY) == {mira.pk: 1}
    assert not mark_read(mira, NOON - HOUR)
    assert count_unread(tian.user, NOON + DAY) == {tian.pk: 1}


def test_who_sends_beside_another_sends_nothing_twice(mira: Companion, bell: Bell) -> None:
    wrote(mira, "Hello")
    again: list[int] = []

    def send_meanwhile(deliveries: Sequence[Delivery], now: datetime) -> Sent:
        again.append(send_due_deliveries(now))
        return Bell.send(bell, deliveries, now)

    bell.send = send_meanwhile  # type: ignore[method-assign]
    assert send_due_deliveries(NOON + HOUR) == 2
    assert (again, len(bell.rung), connection.in_atomic_block) == ([0, 0], 2, True)
