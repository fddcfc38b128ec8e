"""Subscribing by the API and by the site: what comes back tells no secret, and another's is not there."""

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from companions.models import Companion
from integrations.push.models import Subscription
from integrations.push.subscriptions import get_public_key
from tests.companions.transfer.test_export import exported
from tests.fixtures.push_service import Browser, PushService
from tests.fixtures.rest import Api, problem

pytestmark = pytest.mark.django_db


def test_a_browser_subscribes_is_listed_and_removed(as_alice: Api, laptop: Browser) -> None:
    assert as_alice.get("/push/key").json() == {"key": get_public_key()}
    made = as_alice.post("/push/subscriptions", laptop.as_json())
    assert made.status_code == 201
    assert set(made.json()) == {"id", "browser", "created_at", "used_at"}
    listed = as_alice.get("/push/subscriptions")
    assert listed.json() == {"items": [made.json()], "next": None}
    for secret in (laptop.address.endpoint, laptop.address.p256dh, laptop.address.auth):
        assert secret not in made.content.decode() + listed.content.decode()
    assert as_alice.post("/push/subscriptions", laptop.as_json("Other")).json()["id"] == made.json()["id"]
    where = f"/push/subscriptions/{made.json()['id']}"
    assert as_alice.call("DELETE", where).status_code == 204
    problem(as_alice.call("DELETE", where), 404, "not_found")


def test_anothers_is_not_there(as_mallory: Api, subscription: Subscription) -> None:
    problem(as_mallory.call("DELETE", f"/push/subscriptions/{subscription.pk}"), 404, "not_found")
    assert as_mallory.get("/push/subscriptions").json()["items"] == []
    assert Subscription.objects.exists()


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"endpoint": "https://169.254.169.254/latest"}, 422, "not_public"),
        ({"endpoint": "http://example.org/"}, 422, "not_https"),
        ({"endpoint": "https://example.org:22/"}, 422, "bad_port"),
        ({"endpoint": "x" * 3000}, 422, "not_valid"),
        ({"endpoint": "https://a\u0000b/"}, 422, "not_valid"),
        ({"endpoint": 7}, 422, "not_valid"),
        ({"keys": {"p256dh": "AAAA", "auth": "AAAA"}}, 422, "bad_keys"),
        ({"keys": {}}, 422, "not_valid"),
        ({"browser": "x" * 81}, 422, "not_valid"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    as_alice: Api, laptop: Browser, changed: dict[str, object], status: int, code: str
) -> None:
    refused = problem(as_alice.post("/push/subscriptions", laptop.as_json() | changed), status, code)
    assert laptop.address.auth not in str(refused)
    assert not Subscription.objects.exists()


def test_without_a_key_it_says_so(
    as_alice: Api, laptop: Browser, settings: Settings, client: Client, alice: User
) -> None:
    settings.VAPID_KEY = ""
    assert as_alice.get("/push/key").json() == {"key": None}
    problem(as_alice.post("/push/subscriptions", laptop.as_json()), 409, "push_off")
    client.force_login(alice)
    assert "Notifications are not set up on this Kith." in client.get("/settings/").content.decode()


def as_signed_in(user: User) -> tuple[Client, dict[str, str]]:
    """A browser that is signed in, strict about CSRF, and what it was given to send back."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    return client, {"X-CSRFToken": client.get("/notifications/key/").json()["csrf"]}


def test_the_site_subscribes_and_unsubscribes_with_its_csrf_token(alice: User, laptop: Browser) -> None:
    client, headers = as_signed_in(alice)
    told = laptop.as_json()
    assert client.post("/notifications/subscribe/", told, "application/json").status_code == 403
    made = client.post("/notifications/subscribe/", told, "application/json", headers=headers)
    assert (made.status_code, Subscription.objects.owned_by(alice).count()) == (201, 1)
    page = client.get("/settings/").content.decode()
    assert "Firefox · Linux" in page
    assert laptop.address.endpoint not in page
    gone = client.post(
        "/notifications/unsubscribe/", {"endpoint": told["endpoint"]}, "application/json", headers=headers
    )
    assert (gone.status_code, Subscription.objects.count()) == (204, 0)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'"x"', b"\xff", b"[" * 5000, b" " * 20_000])
def test_the_site_takes_nothing_that_is_no_subscription(alice: User, body: bytes) -> None:
    client, headers = as_signed_in(alice)
    for path in ("subscribe", "unsubscribe"):
        answer = client.post(f"/notifications/{path}/", body, "application/json", headers=headers)
        assert answer.status_code == 400


def test_the_site_says_why_an_address_is_refused(alice: User, laptop: Browser) -> None:
    client, headers = as_signed_in(alice)
    told = laptop.as_json() | {"endpoint": "https://10.0.0.1/"}
    answer = client.post("/notifications/subscribe/", told, "application/json", headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (
        422,
        "This is not the address of a push service.",
    )


def test_one_removes_ones_own_and_nobody_elses(
    alice: User, mallory: User, subscription: Subscription
) -> None:
    where = f"/notifications/{subscription.pk}/remove/"
    client, headers = as_signed_in(mallory)
    assert client.post(where, headers=headers).status_code == 404
    client, headers = as_signed_in(alice)
    assert client.post(where).status_code == 403
    assert client.post(where, headers=headers).status_code == 302
    assert not Subscription.objects.exists()


@pytest.mark.django_db(transaction=True)
async def test_subscriptions_are_in_no_export(
    alice: User, mira: Companion, subscription: Subscription, service: PushService
) -> None:
    told = str(await exported(alice, mira))
    assert "Mira" in told
    for secret in (service.host, str(subscription.pk), subscription.endpoint_digest):
        assert secret not in told
