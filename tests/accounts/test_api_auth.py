"""Who the API lets in: live bearer tokens, and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client
from django.utils import timezone

from accounts.authentication import find_token_user
from accounts.errors import TokenError
from accounts.models import Token, User
from companions.sockets.authorization import find_sender

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
both = pytest.mark.parametrize("path", ["/api/sync", "/api/async"])
pytestmark = pytest.mark.urls("tests.accounts.api")


def bearer(plaintext: str) -> dict[str, str]:
    return {"authorization": f"Bearer {plaintext}"}


@both
def test_a_live_token_opens(alice: User, path: str) -> None:
    _, plaintext = Token.objects.issue(alice, "laptop")
    response = Client().get(path, headers=bearer(plaintext))
    assert response.status_code == 200
    assert response.json()["user"] == response.json()["auth"] == "alice@example.org"


@both
@pytest.mark.django_db(transaction=True)
async def test_a_live_token_opens_under_asgi(bob: User, path: str) -> None:
    _, plaintext = await sync_to_async(Token.objects.issue)(bob, "laptop")
    response = await AsyncClient().get(path, headers=bearer(plaintext))
    assert response.status_code == 200
    assert response.json() == {
        "user": "bob@example.org",
        "auth": "bob@example.org",
        "language": "zh-hans",
        "time_zone": "Asia/Shanghai",
    }


@both
def test_a_sessions_cookie_opens_nothing(alice: User, path: str) -> None:
    client = Client()
    client.force_login(alice)
    assert client.get(path).status_code == 401


@both
@pytest.mark.django_db
@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer kith_nothing", "Basic YTpi", "Bearer \xe9", "Token x", "Bearer a\tb"],
)
def test_what_is_no_token_opens_nothing(path: str, header: str) -> None:
    assert Client().get(path, headers={"authorization": header}).status_code == 401


@both
def test_a_revoked_token_opens_nothing(alice: User, path: str) -> None:
    token, plaintext = Token.objects.issue(alice, "laptop")
    token.revoke(NOON)
    assert Client().get(path, headers=bearer(plaintext)).status_code == 401


@both
def test_neither_prefix_nor_digest_opens(alice: User, path: str) -> None:
    token, _ = Token.objects.issue(alice, "laptop")
    for known in (token.prefix, token.digest):
        assert Client().get(path, headers=bearer(known)).status_code == 401


def test_the_last_use_is_recorded_at_most_once_a_minute(alice: User) -> None:
    token, plaintext = Token.objects.issue(alice, "laptop")
    uses = [
        (NOON, NOON),
        (NOON + timedelta(seconds=60), NOON),
        (NOON + timedelta(seconds=61), NOON + timedelta(seconds=61)),
    ]
    for used_at, recorded_at in uses:
        assert find_token_user(plaintext, used_at) == alice
        token.refresh_from_db()
        assert token.last_used_at == recorded_at


def test_a_token_is_stored_as_prefix_and_digest_only(alice: User) -> None:
    token, plaintext = Token.objects.issue(alice, "laptop")
    stored = Token.objects.values().get(pk=token.pk)
    assert stored["prefix"] == plaintext[:12]
    assert plaintext not in str(stored)


@pytest.mark.urls("config.urls")
def test_the_api_says_that_a_token_has_expired(alice: User) -> None:
    _, plaintext = Token.objects.issue(alice, "laptop", timezone.now() - timedelta(seconds=1))
    response = Client().get("/api/v1/companions", headers=bearer(plaintext))
    assert (response.status_code, response.json()["code"]) == (401, "token_expired")
    assert response["WWW-Authenticate"] == "Bearer"
    assert "has expired" in response.json()["detail"]


@pytest.mark.urls("config.urls")
def test_the_api_says_that_an_account_is_closed_to_its_token_alone(alice: User) -> None:
    token, plaintext = Token.objects.issue(alice, "laptop")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    response = Client().get("/api/v1/companions", headers=bearer(plaintext))
    assert (response.status_code, response.json()["code"]) == (401, "account_closed")
    assert "is closed" in response.json()["detail"]
    token.revoke(NOON)
    response = Client().get("/api/v1/companions", headers=bearer(plaintext))
    assert response.json()["code"] == "not_signed_in"


@pytest.mark.urls("config.urls")
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("", "Send a token"),
        ("Basic YTpi", "Send a token"),
        ("Bearer kith_nothing", "This token is not valid"),
    ],
)
def test_who_sent_a_wrong_token_is_not_asked_to_send_one(header: str, told: str) -> None:
    response = Client().get("/api/v1/companions", headers={"authorization": header})
    assert (response.status_code, response.json()["code"]) == (401, "not_signed_in")
    assert response.json()["detail"].startswith(told)


def test_a_token_is_good_up_to_its_end(alice: User) -> None:
    _, plaintext = Token.objects.issue(alice, "laptop", NOON)
    assert find_token_user(plaintext, NOON - timedelta(microseconds=1)) == alice
    with pytest.raises(TokenError):
        find_token_user(plaintext, NOON)
    assert find_sender({"headers": [(b"authorization", f"Bearer {plaintext}".encode())]}, NOON) is None
