"""A mail server that refuses, is away or hangs: no mail is lost or doubled, and nobody waits for it again and again."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from pytest_django import Settings

from companions.models import Companion, Delivery, Life, Message, Waking
from tests.companions.life.waking import NOON, send_due_deliveries, wrote
from tests.fixtures.mail_server import MailServer

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


@pytest.fixture
def server(settings: Settings) -> Iterator[MailServer]:
    with MailServer() as one:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", one.port, 10
        yield one


def write_to(companion: Companion, text: str = "The trams run again.") -> None:
    Life.objects.filter(companion=companion).update(by_email=True, by_push=False)
    companion.life.refresh_from_db()
    wrote(companion, text)


def deliveries() -> list[tuple[str, str]]:
    return list(Delivery.objects.order_by("message__text").values_list("state", "error"))


@pytest.mark.parametrize(
    "refusal",
    [{"RCPT": "451 greylisted"}, {"MAIL": "452 full"}, {"DATA": "421 busy"}, {"end": "450 later"}],
    ids=str,
)
def test_what_is_refused_for_now_comes_a_quarter_of_an_hour_later(
    mira: Companion, server: MailServer, refusal: dict[str, str]
) -> None:
    write_to(mira)
    server.answers = refusal
    assert send_due_deliveries(NOON + HOUR) == 0
    assert deliveries() == [("waiting", "mail_refused")]
    server.answers, server.mails = {}, []
    assert send_due_deliveries(NOON + HOUR + 14 * MINUTE) == 0
    assert send_due_deliveries(NOON + HOUR + 15 * MINUTE) == 1
    assert send_due_deliveries(NOON + DAY) == 0
    assert (deliveries(), len(server.mails)) == ([("sent", "")], 1)


@pytest.mark.parametrize(
    "refusal", [{"RCPT": "550 nobody here"}, {"end": "554 spam"}, {"end": "hang"}], ids=str
)
def test_what_is_refused_for_good_or_may_have_been_taken_is_not_sent_again(
    mira: Companion, server: MailServer, settings: Settings, refusal: dict[str, str]
) -> None:
    settings.EMAIL_TIMEOUT = 2 if "hang" in refusal.values() else 10
    write_to(mira)
    server.answers = refusal
    send_due_deliveries(NOON + HOUR)
    send_due_deliveries(NOON + DAY)
    assert (deliveries(), server.connections) == ([("failed", "mail_refused")], 1)


@pytest.mark.parametrize("refusal", ["421 away", "hang"])
def test_while_it_is_away_it_is_asked_once_for_everybody(
    mira: Companion, tian: Companion, server: MailServer, settings: Settings, refusal: str
) -> None:
    settings.EMAIL_TIMEOUT = 0.5 if refusal == "hang" else 10
    write_to(mira, "Hello")
    write_to(tian, "你好")
    server.answers = {"hello": refusal}
    for minutes in range(15):
        assert send_due_deliveries(NOON + HOUR + minutes * MINUTE) == 0
    assert server.connections == 1
    assert {state for state, _error in deliveries()} == {"waiting"}
    server.answers = {}
    assert send_due_deliveries(NOON + HOUR + 15 * MINUTE) == 2
    assert len(server.mails) == 2


def test_while_it_is_away_notifications_come_as_ever(mira: Companion, server: MailServer) -> None:
    write_to(mira)
    at = NOON + HOUR + MINUTE
    message = Message.objects.get()
    Delivery.objects.create(companion=mira, message=message, channel="push", destination="x", due_at=at)
    server.answers = {"hello": "421 away"}
    send_due_deliveries(NOON + HOUR)
    assert Delivery.objects.get(channel="push").due_at == at


@pytest.mark.parametrize(("is_asked_for", "state"), [(True, "failed"), (False, "dropped")])
def test_after_two_days_it_is_given_up(
    mira: Companion, server: MailServer, is_asked_for: bool, state: str
) -> None:
    write_to(mira)
    Waking.objects.update(is_asked_for=is_asked_for)
    server.answers = {"hello": "421 away"}
    for hours in range(1, 72):
        send_due_deliveries(NOON + hours * HOUR)
    assert deliveries() == [(state, "mail_unreachable")]


def test_what_is_given_up_takes_nothing_newer_along(
    mira: Companion, tian: Companion, server: MailServer
) -> None:
    write_to(mira, "Old")
    Waking.objects.update(is_asked_for=True)
    Message.objects.filter(text="Old").update(said_at=NOON - 2 * DAY)
    write_to(mira, "New")
    write_to(tian, "其他")
    server.answers = {"hello": "421 away"}
    assert send_due_deliveries(NOON + HOUR) == 0
    states = ["waiting", "failed", "waiting"]
    assert [state for state, _error in deliveries()] == states
    assert server.connections == 1
