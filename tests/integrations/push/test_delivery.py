"""A notification reaches its browser encrypted, signed and at most once; who is gone or fails again is dropped."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from django.utils import translation
from pytest_django import Settings
from structlog.testing import capture_logs

from accounts.models import User
from companions.life import outreach
from companions.life.outreach import Sent, mark_read
from companions.models import Companion, Delivery
from integrations.push import channel
from integrations.push.channel import BODY_CHARACTERS, PAYLOAD_BYTES, Push, cut, render_payload
from integrations.push.models import Address, Subscription
from integrations.push.subscriptions import get_public_key, subscribe
from tests.companions.life.waking import NOON, send_due_deliveries, wrote
from tests.fixtures.push_service import Browser, PushService, b64

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
SOON = NOON + timedelta(seconds=5)


def deliveries() -> list[tuple[str, str]]:
    return list(Delivery.objects.filter(channel="push").values_list("state", "error"))


def test_a_message_comes_as_a_notification_that_only_the_browser_can_read(
    mira: Companion, subscription: Subscription, laptop: Browser, service: PushService
) -> None:
    wrote(mira, "The trams run again.")
    assert send_due_deliveries(NOON) == 0  # it may still be read
    assert send_due_deliveries(SOON) == 1
    (received,) = service.received
    assert b"trams" not in received.body
    assert laptop.reads(received) == {
        "title": "Mira",
        "body": "The trams run again.",
        "url": f"/companions/{mira.pk}/",
        "tag": f"companion-{mira.pk}",
        "companion": str(mira.pk),
        "mute": {"title": "Mute", "url": f"/companions/{mira.pk}/life/mute/"},
        "life": f"/companions/{mira.pk}/life/settings/",
    }
    assert deliveries() == [("sent", "")]
    subscription.refresh_from_db()
    assert (subscription.used_at, subscription.failures) == (SOON, 0)


def test_it_says_who_sends_it_for_how_long_and_in_place_of_what(
    mira: Companion, subscription: Subscription, laptop: Browser, service: PushService
) -> None:
    wrote(mira, "One")
    wrote(mira, "Two", NOON + timedelta(seconds=1))
    send_due_deliveries(NOON + timedelta(minutes=1))
    received, after = service.received
    assert laptop.address.endpoint.endswith(received.path)
    assert received.claims() == {
        "aud": service.url,
        "exp": int((NOON + timedelta(hours=12, minutes=1)).timestamp()),
        "sub": "mailto:kith@127.0.0.1",
        "k": get_public_key(),
    }
    told = received.headers
    assert (told["content-encoding"], told["ttl"], told["urgency"]) == ("aes128gcm", "86400", "normal")
    assert (len(told["topic"]), told["topic"]) == (22, after.headers["topic"])
    assert str(mira.pk) not in str(told)
    assert b64(mira.pk.bytes) not in str(told)
    assert received.body[:16] != after.body[:16]  # a salt of its own
    assert received.body[21:86] != after.body[21:86]  # and a key


def test_each_browser_of_the_person_gets_it_and_nobody_elses(
    alice: User, bob: User, mira: Companion, service: PushService
) -> None:
    one, other, bobs = (Browser(service.url) for _ in range(3))
    for user, laptop in ((alice, one), (alice, other), (bob, bobs)):
        subscribe(user, laptop.address, "", NOON)
    wrote(mira, "Hello")
    assert send_due_deliveries(SOON) == 2
    ends = {laptop.address.endpoint.removeprefix(service.url) for laptop in (one, other)}
    assert {received.path for received in service.received} == ends


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_gone_is_forgotten(
    mira: Companion, subscription: Subscription, service: PushService, status: int
) -> None:
    service.status = status
    wrote(mira, "Hello")
    assert send_due_deliveries(SOON) == 0
    assert deliveries() == [("failed", "gone")]
    assert not Subscription.objects.exists()


@pytest.mark.parametrize("status", [400, 401, 403, 413, 500, 502])
def test_a_failure_is_counted_and_the_message_is_not_sent_again(
    mira: Companion, subscription: Subscription, service: PushService, status: int
) -> None:
    service.status, service.headers = status, {"Retry-After": "1"}
    wrote(mira, "Hello")
    assert send_due_deliveries(SOON) == 0
    assert send_due_deliveries(SOON + timedelta(hours=1)) == 0
    assert (deliveries(), len(service.received)) == ([("failed", f"status_{status}")], 1)
    assert Subscription.objects.get().failures == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_asks_for_it_is_tried_again_later(
    mira: Companion, subscription: Subscription, service: PushService, status: int
) -> None:
    service.status, service.headers = status, {"Retry-After": "1"}
    wrote(mira, "Hello")
    assert send_due_deliveries(SOON) == 0
    assert (deliveries(), Subscription.objects.get().failures) == ([("waiting", f"status_{status}")], 0)
    service.status = 201
    assert send_due_deliveries(SOON + timedelta(minutes=14)) == 0
    assert send_due_deliveries(SOON + timedelta(minutes=15)) == 1
    assert (deliveries(), len(service.received)) == ([("sent", "")], 2)


def test_ten_failures_in_a_row_end_it_and_one_success_begins_anew(
    mira: Companion, subscription: Subscription, service: PushService
) -> None:
    message = wrote(mira, "Hello")
    service.status = 500
    for number in range(9):
        channel.send(subscription, message, NOON)
        assert Subscription.objects.get().failures == number + 1
    service.status = 201
    assert channel.send(Subscription.objects.get(), message, NOON) == ""
    assert Subscription.objects.get().failures == 0
    service.status = 500
    for _ in range(10):
        channel.send(subscription, message, NOON)
    assert not Subscription.objects.exists()


def test_nobody_is_sent_inside_by_a_redirect(
    mira: Companion, subscription: Subscription, service: PushService, settings: Settings
) -> None:
    with PushService() as inside:
        service.status, service.headers = 307, {"Location": f"{inside.url}/x"}
        wrote(mira, "Hello")
        send_due_deliveries(SOON)
        assert inside.received == []
    assert deliveries() == [("failed", "status_307")]


def test_an_address_that_leads_inside_by_now_is_not_asked(
    mira: Companion, subscription: Subscription, service: PushService, settings: Settings
) -> None:
    settings.OUTBOUND_ALLOWED = set()
    wrote(mira, "Hello")
    send_due_deliveries(SOON)
    assert (deliveries(), service.received) == ([("failed", "not_https")], [])
    assert Subscription.objects.get().failures == 1


def test_where_nobody_answers_it_has_failed(
    mira: Companion, subscription: Subscription, settings: Settings
) -> None:
    settings.OUTBOUND_ALLOWED = {"127.0.0.1:9"}
    mine = Address.opened(subscription.sealed)
    subscription.sealed = Address("http://127.0.0.1:9/x", mine.p256dh, mine.auth).sealed()
    subscription.save()
    wrote(mira, "Hello")
    send_due_deliveries(SOON)
    assert deliveries() == [("failed", "unreachable")]


def test_who_dies_while_sending_leaves_it_at_that(
    mira: Companion, subscription: Subscription, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(self: Push, waiting: Sequence[Delivery], now: object) -> Sent:
        channel.send(subscription, waiting[0].message, NOON)
        raise KeyboardInterrupt

    wrote(mira, "Hello")
    with monkeypatch.context() as patched:
        patched.setattr(Push, "send", die)
        with pytest.raises(KeyboardInterrupt):
            send_due_deliveries(SOON)
    assert send_due_deliveries(SOON + timedelta(hours=1)) == 0
    assert (deliveries(), len(service.received)) == ([("attempted", "")], 1)


def test_what_was_read_meanwhile_or_is_not_wanted_is_not_sent(
    mira: Companion, subscription: Subscription, service: PushService, settings: Settings
) -> None:
    wrote(mira, "Read")
    mark_read(mira, NOON)
    send_due_deliveries(SOON)
    mira.life.by_push = False
    mira.life.save()
    wrote(mira, "Unwanted", NOON + timedelta(hours=1))
    mira.life.by_push = True
    mira.life.save()
    settings.VAPID_KEY = ""
    wrote(mira, "No key", NOON + timedelta(hours=1))
    assert send_due_deliveries(NOON + timedelta(hours=2)) == 0
    assert (service.received, deliveries()) == ([], [("dropped", "")])


def test_a_subscription_that_is_gone_meanwhile_is_not_sent_to(
    mira: Companion, subscription: Subscription, service: PushService
) -> None:
    wrote(mira, "Hello")
    subscription.delete()
    send_due_deliveries(SOON)
    assert (deliveries(), service.received) == ([("failed", "gone")], [])


def test_another_persons_subscription_is_never_asked(
    mira: Companion, bob: User, subscription: Subscription, service: PushService
) -> None:
    wrote(mira, "Hello")
    Subscription.objects.update(user=bob)
    send_due_deliveries(SOON)
    assert (deliveries(), service.received) == ([("failed", "gone")], [])


def test_with_the_wrong_key_nothing_is_sent_and_the_operator_is_told(
    mira: Companion, subscription: Subscription, service: PushService, settings: Settings
) -> None:
    settings.ENCRYPTION_KEYS = ["b" * 43 + "="]
    wrote(mira, "Hello")
    with capture_logs() as logged:
        send_due_deliveries(SOON)
    assert (deliveries(), service.received) == ([("failed", "sealed_otherwise")], [])
    assert ("push_not_sent", "sealed_otherwise") in [(line["event"], line.get("code")) for line in logged]
    assert Subscription.objects.get().failures == 0


def test_where_kith_cannot_sign_the_browser_is_not_to_blame(
    mira: Companion, subscription: Subscription, service: PushService, settings: Settings
) -> None:
    settings.DEFAULT_FROM_EMAIL = "nobody"
    wrote(mira, "Hello")
    send_due_deliveries(SOON)
    assert (deliveries(), service.received) == ([("failed", "not_signed")], [])
    assert Subscription.objects.get().failures == 0


def test_what_is_sent_is_sealed_anew_with_the_newest_key(
    mira: Companion, subscription: Subscription, laptop: Browser, service: PushService, settings: Settings
) -> None:
    newest = "b" * 43 + "="
    settings.ENCRYPTION_KEYS = [newest, *settings.ENCRYPTION_KEYS]
    wrote(mira, "Hello")
    send_due_deliveries(SOON)
    settings.ENCRYPTION_KEYS = [newest]
    assert Address.opened(Subscription.objects.get().sealed) == laptop.address


def test_a_browser_that_subscribed_anew_meanwhile_keeps_its_new_keys(
    alice: User, mira: Companion, subscription: Subscription, laptop: Browser, service: PushService
) -> None:
    message = wrote(mira, "Hello")
    renewed = replace(Browser(service.url).address, endpoint=laptop.address.endpoint)
    subscribe(alice, renewed, "Firefox · Linux", NOON)
    assert channel.send(subscription, message, SOON) == ""
    assert Address.opened(Subscription.objects.get().sealed) == renewed


HOSTILE = {
    "long": "rain and " * 3000,
    "Chinese": "下雨" * 3000,
    "emoji": "👩‍👩‍👧‍👦" * 500,
    "controls": "\x01\x02\x1b[31m" * 400,
    "markup": "<script>alert(1)</script>" * 100,
    "quotes": '"\\' * 500,
    "lines": "a\r\nTopic: b\r\n" * 100,
    "right to left": "\u202egnp.exe" * 100,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_fit_and_arrive_as_they_are(
    mira: Companion, subscription: Subscription, laptop: Browser, service: PushService, text: str
) -> None:
    mira.name = text[:80]
    mira.save()
    mira.refresh_from_db()
    wrote(mira, text)
    assert send_due_deliveries(SOON) == 1
    (received,) = service.received
    told = laptop.reads(received)
    assert told["body"] == cut(text)
    assert len(told["body"]) <= BODY_CHARACTERS
    assert "\n" not in told["body"] + told["title"]
    assert len(received.body) == PAYLOAD_BYTES + 103 <= 4096
    assert told["url"] == f"/companions/{mira.pk}/"


def test_its_length_tells_nothing_of_its_words(mira: Companion) -> None:
    one, other = wrote(mira, "No."), wrote(mira, "Yes, and " * 100)
    assert len(render_payload(one)) == len(render_payload(other)) == PAYLOAD_BYTES


def test_it_is_in_the_persons_language(mira: Companion) -> None:
    message = wrote(mira, "Hello")
    with translation.override("en"):
        assert orjson.loads(render_payload(message))["mute"]["title"] == "Mute"


def test_a_text_of_200_characters_is_whole_and_a_longer_one_is_cut() -> None:
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 201) == "x" * 199 + "…"


def test_the_channel_is_registered() -> None:
    assert isinstance(outreach.channels["push"], Push)
