"""Which browsers may be notified: public addresses, real keys, twenty a person, one person a browser."""

import threading
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.db import connection, connections
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from database.encryption import decrypt
from integrations.push.models import Address, Subscription
from integrations.push.subscriptions import MAX_DEVICES, PushError, subscribe, unsubscribe
from providers.http.guarded_http import OutboundError, require_public
from tests.accounts.visits import sign_in, submit
from tests.companions.life.waking import NOON
from tests.fixtures.people import PASSWORD
from tests.fixtures.push_service import Browser, PushService

pytestmark = pytest.mark.django_db


def refusal(user: User, address: Address) -> str:
    with pytest.raises(PushError) as refused:
        subscribe(user, address, "", NOON)
    assert not Subscription.objects.exists()
    assert address.endpoint not in str(refused.value) + str(refused.value.detail) or not address.endpoint
    return refused.value.code


@pytest.mark.parametrize(
    ("endpoint", "code"),
    [
        ("", "not_https"),
        ("http://push.example.org/x", "not_https"),
        ("file:///etc/passwd", "not_https"),
        ("https://push.example.org:8443/x", "bad_port"),
        ("https://user:password@push.example.org/x", "bad_address"),
        ("https://127.0.0.1/x", "not_public"),
        ("https://[::1]/x", "not_public"),
        ("https://[::ffff:169.254.169.254]/x", "not_public"),
        ("https://localhost/x", "not_public"),
        ("https://nowhere.invalid/x", "not_public"),  # as for a name that only Kith's own network knows
        ("https://2130706433/x", "not_public"),
        (f"https://push.example.org/{'x' * 2000}", "bad_address"),
        ("https://push.example.org/ä", "bad_address"),
    ],
)
def test_an_address_that_nobody_may_ask_is_not_kept(alice: User, endpoint: str, code: str) -> None:
    keys = Browser("https://push.example.org").address
    assert refusal(alice, Address(endpoint, keys.p256dh, keys.auth)) == code


@pytest.mark.parametrize(("p256dh", "auth"), [("", ""), ("AAAA", "AAAA"), ("x" * 87, "y" * 22)])
def test_keys_that_are_none_are_not_kept(alice: User, laptop: Browser, p256dh: str, auth: str) -> None:
    assert refusal(alice, Address(laptop.address.endpoint, p256dh, auth)) == "bad_keys"


def test_nothing_of_the_address_can_be_read_in_the_database(
    subscription: Subscription, laptop: Browser
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT push_subscription::text, sealed FROM push_subscription")
        ((row, sealed),) = cursor.fetchall()
    for secret in (laptop.address.endpoint, laptop.address.p256dh, laptop.address.auth):
        assert secret not in row
        assert secret.encode() not in bytes(sealed)
        assert secret.encode() in decrypt(sealed)


def test_the_same_browser_is_kept_once_and_anew(
    alice: User, subscription: Subscription, laptop: Browser
) -> None:
    Subscription.objects.update(failures=3)
    fresh = Browser("").address
    again = Address(laptop.address.endpoint, fresh.p256dh, fresh.auth)
    assert subscribe(alice, again, "Chrome", NOON + timedelta(days=1)).pk == subscription.pk
    kept = Subscription.objects.get()
    assert (kept.browser, kept.failures, kept.created_at) == ("Chrome", 0, NOON)
    assert Address.opened(kept.sealed) == again


def test_the_twenty_first_is_refused_but_not_one_that_is_there(alice: User, service: PushService) -> None:
    browsers = [Browser(service.url) for _ in range(MAX_DEVICES)]
    for one in browsers:
        subscribe(alice, one.address, "", NOON)
    with pytest.raises(PushError) as refused:
        subscribe(alice, Browser(service.url).address, "", NOON)
    assert (refused.value.code, refused.value.status) == ("too_many_devices", 409)
    assert subscribe(alice, browsers[0].address, "again", NOON)
    assert Subscription.objects.owned_by(alice).count() == MAX_DEVICES


@pytest.mark.django_db(transaction=True)
def test_many_at_once_are_twenty(alice: User, service: PushService) -> None:
    def one(codes: list[str]) -> None:
        try:
            subscribe(alice, Browser(service.url).address, "", NOON)
        except PushError as error:
            codes.append(error.code)
        finally:
            connections.close_all()

    codes: list[str] = []
    for _ in range(MAX_DEVICES - 2):
        subscribe(alice, Browser(service.url).address, "", NOON)
    threads = [threading.Thread(target=one, args=(codes,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Subscription.objects.owned_by(alice).count() == MAX_DEVICES
    assert codes == ["too_many_devices"] * 4


def test_who_signs_in_at_anothers_browser_takes_it_over(
    alice: User, bob: User, subscription: Subscription, laptop: Browser
) -> None:
    subscribe(bob, laptop.address, "", NOON)
    assert [one.user for one in Subscription.objects.all()] == [bob]


def test_who_knows_the_endpoint_alone_takes_nothing_away(
    alice: User, mallory: User, subscription: Subscription, laptop: Browser
) -> None:
    own = Browser("").address
    subscribe(mallory, Address(laptop.address.endpoint, own.p256dh, own.auth), "", NOON)
    unsubscribe(mallory, laptop.address.endpoint)
    assert Subscription.objects.owned_by(alice).get() == subscription


def test_a_seal_of_another_key_breaks_nothing(
    alice: User, bob: User, subscription: Subscription, laptop: Browser, settings: Settings
) -> None:
    settings.ENCRYPTION_KEYS = ["b" * 43 + "="]
    assert list(Subscription.objects.owned_by(alice)) == [subscription]
    subscribe(bob, laptop.address, "", NOON)
    assert subscribe(alice, laptop.address, "", NOON).pk == subscription.pk
    assert Address.opened(Subscription.objects.owned_by(alice).get().sealed) == laptop.address


def test_without_a_key_there_are_no_notifications(alice: User, laptop: Browser, settings: Settings) -> None:
    settings.VAPID_KEY = ""
    assert refusal(alice, laptop.address) == "push_off"


def test_what_is_asked_for_an_address_is_only_whether_it_is_public(service: PushService) -> None:
    require_public(f"{service.url}/x")
    with pytest.raises(OutboundError):
        require_public("https://127.0.0.1:443/x")
    assert service.received == []


def test_who_leaves_takes_the_subscriptions_along(alice: User, subscription: Subscription) -> None:
    alice.delete()
    assert not Subscription.objects.exists()


@pytest.mark.parametrize("deed", ["the password", "by an operator", "one device", "all other devices"])
def test_a_stolen_device_is_notified_no_more_after(
    alice: User, olive: User, subscription: Subscription, deed: str
) -> None:
    hers, stolen = Client(), Client()
    for client in (hers, stolen):
        sign_in(client, alice.email)
        client.get("/accounts/devices/")
    fresh = dict.fromkeys(("password1", "password2"), "another strong phrase 9")
    if deed == "by an operator":
        hers.force_login(olive)
        hers.post(f"/admin/accounts/user/{alice.pk}/password/", {"usable_password": "true", **fresh})
    elif deed == "the password":
        submit(hers, "/accounts/password/change/", oldpassword=PASSWORD, **fresh)
    elif deed == "one device":
        session = UserSession.objects.get(session_key=stolen.session.session_key)
        submit(hers, f"/accounts/devices/{session.pk}/sign-out/", "/accounts/devices/")
    else:
        submit(hers, "/accounts/devices/")
    assert not Subscription.objects.exists()
