"""Signing in and out, resetting a password, and the operators' door."""

import re
import time
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
import redis
from django.conf import settings as django_settings
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Token, User
from accounts.tasks import drop_old_sessions
from config.cache import RedisOrLocalCache
from tests.accounts.visits import FRESH_PASSWORD, sign_in, submit, who
from tests.fixtures.people import PASSWORD


@pytest.mark.parametrize("email", ["alice@example.org", "ALICE@example.ORG", " alice@example.org "])
def test_signing_in_by_email_in_any_case(visitor: Client, alice: User, email: str) -> None:
    response = sign_in(visitor, email)
    assert (response.status_code, response.url) == (302, "/companions/")
    assert who(visitor) == str(alice.pk)


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("alice@example.org", "wrong"),
        ("nobody@example.org", PASSWORD),
        ("alice@example.org", "a\x00b"),
        ("ali\x00ce@example.org", PASSWORD),
        ("", ""),
        ("x" * 10_000, "y" * 10_000),
    ],
)
def test_what_does_not_fit_lets_no_one_in(visitor: Client, alice: User, email: str, password: str) -> None:
    response = sign_in(visitor, email, password)
    assert response.status_code == 200
    assert response.context["form"].errors
    assert who(visitor) is None


def test_an_inactive_person_is_not_let_in(visitor: Client, alice: User) -> None:
    User.objects.update(is_active=False)
    assert sign_in(visitor, "alice@example.org").url == "/accounts/inactive/"
    assert who(visitor) is None


def test_guessing_is_stopped(visitor: Client, alice: User) -> None:
    for _ in range(5):
        sign_in(visitor, "alice@example.org", "wrong")
    sign_in(visitor, "alice@example.org")
    assert who(visitor) is None


def test_a_form_without_its_csrf_token_is_refused(visitor: Client, alice: User) -> None:
    response = visitor.post("/accounts/login/", {"login": alice.email, "password": PASSWORD})
    assert response.status_code == 403
    assert who(visitor) is None


@pytest.mark.parametrize("origin", ["https://elsewhere.example.org", "http://localhost"])
def test_a_form_at_an_address_that_is_not_kiths_is_refused_as_such(alice: User, origin: str) -> None:
    """As behind a proxy with another host name or port than KITH_URL."""
    sent = {"login": alice.email, "password": PASSWORD}
    visitor = Client(enforce_csrf_checks=True, headers={"origin": origin, "host": "localhost:8000"})
    refused = visitor.post("/accounts/login/", sent)
    assert refused.status_code == 403
    assert "Kith does not answer at this address." in refused.content.decode()


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_signing_in_sends_no_one_elsewhere(visitor: Client, alice: User, address: str) -> None:
    response = submit(visitor, "/accounts/login/", login=alice.email, password=PASSWORD, next=address)
    assert response.url == "/companions/"


@pytest.mark.parametrize(
    ("method", "headers", "to"),
    [
        ("post", {"referer": "http://testserver/companions/?at=1"}, "/companions/?at=1"),
        ("get", {"referer": "http://testserver/companions/", "hx-request": "true"}, "/companions/"),
        ("get", {"referer": "http://testserver/companions/"}, "/companions/new/own/"),
        ("post", {"referer": "http://elsewhere.example/companions/"}, "/companions/new/own/"),
        ("post", {}, "/companions/new/own/"),
    ],
)
def test_who_signs_in_again_returns_to_the_page_and_not_to_an_action_or_a_part(
    db: None, method: str, headers: dict[str, str], to: str
) -> None:
    response = getattr(Client(), method)("/companions/new/own/", headers=headers)
    assert parse_qs(urlsplit(response.url).query) == {"next": [to]}


def test_signing_out_needs_a_form_and_ends_the_session(visitor: Client, alice: User) -> None:
    sign_in(visitor, alice.email)
    visitor.get("/accounts/logout/")
    assert who(visitor) == str(alice.pk)
    assert submit(visitor, "/accounts/logout/").url == "/"
    assert who(visitor) is None


def test_a_reset_link_sets_a_new_password_once(visitor: Client, alice: User) -> None:
    assert submit(visitor, "/accounts/password/reset/", email="Alice@example.org").status_code == 302
    (letter,) = mail.outbox
    assert letter.to == [alice.email]
    path = next(iter(re.findall(r"(/accounts/password/reset/key/\S+)", letter.body)))
    form = visitor.get(path).url
    submit(visitor, form, password1=FRESH_PASSWORD, password2=FRESH_PASSWORD)
    alice.refresh_from_db()
    assert alice.check_password(FRESH_PASSWORD)
    assert Client().get(path, follow=True).context["token_fail"]


def test_a_reset_does_not_tell_who_has_an_account(visitor: Client, alice: User) -> None:
    known = submit(visitor, "/accounts/password/reset/", email=alice.email)
    unknown = submit(visitor, "/accounts/password/reset/", email="nobody@example.org")
    assert (known.status_code, known.url) == (unknown.status_code, unknown.url)


@pytest.mark.parametrize("email", ["alice@example.org", "nobody@example.org"])
def test_nobody_fills_a_mailbox_with_reset_links(
    visitor: Client, alice: User, monkeypatch: pytest.MonkeyPatch, email: str
) -> None:
    for _minute in range(7):
        later = time.time() + 61
        monkeypatch.setattr(time, "time", lambda now=later: now)
        submit(visitor, "/accounts/password/reset/", email=email)
    assert len(mail.outbox) == 5


@pytest.mark.parametrize(
    "domain", ["ｅxample.org", "exam\u00adple.org", "example.org\u202e", f"{'ä' * 60}.org"]
)
def test_no_mail_goes_to_a_domain_that_a_mail_would_write_otherwise(
    visitor: Client, alice: User, domain: str
) -> None:
    response = submit(visitor, "/accounts/password/reset/", email=f"alice@{domain}")
    assert response.context["form"].errors["email"] == ["Enter a valid e-mail address."]
    assert not mail.outbox
    assert submit(visitor, "/accounts/password/reset/", email="alice@exämple.org").status_code == 302


def test_a_reset_for_an_unknown_address_offers_no_account_where_none_can_be_made(
    visitor: Client, settings: Settings, db: None
) -> None:
    settings.KITH_SIGNUP = "closed"
    submit(visitor, "/accounts/password/reset/", email="nobody@example.org")
    (letter,) = mail.outbox
    assert "no account there has it" in letter.body
    assert "/signup/" not in letter.body


def test_a_password_is_changed_by_who_knows_the_old_one(visitor: Client, alice: User) -> None:
    sign_in(visitor, alice.email)
    path = "/accounts/password/change/"
    submit(visitor, path, oldpassword="wrong", password1=FRESH_PASSWORD, password2=FRESH_PASSWORD)
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)
    submit(visitor, path, oldpassword=PASSWORD, password1=FRESH_PASSWORD, password2=FRESH_PASSWORD)
    alice.refresh_from_db()
    assert alice.check_password(FRESH_PASSWORD)
    assert who(visitor) == str(alice.pk)


@pytest.mark.parametrize(("wish", "left"), [({"end_tokens": "on"}, ["bobs own"]), ({}, ["bobs own", "hers"])])
def test_tokens_end_with_the_old_password_if_wished(
    visitor: Client, alice: User, bob: User, wish: dict[str, str], left: list[str]
) -> None:
    for user, name in ((alice, "hers"), (bob, "bobs own")):
        Token.objects.issue(user, name)
    sign_in(visitor, alice.email)
    fresh = {"password1": FRESH_PASSWORD, "password2": FRESH_PASSWORD}
    submit(visitor, "/accounts/password/change/", oldpassword=PASSWORD, **fresh, **wish)
    assert sorted(token.name for token in Token.objects.live()) == left


def test_tokens_end_with_a_reset_if_wished(visitor: Client, alice: User) -> None:
    Token.objects.issue(alice, "hers")
    submit(visitor, "/accounts/password/reset/", email=alice.email)
    path = next(iter(re.findall(r"(/accounts/password/reset/key/\S+)", mail.outbox[0].body)))
    fresh = {"password1": FRESH_PASSWORD, "password2": FRESH_PASSWORD}
    submit(visitor, visitor.get(path).url, **fresh, end_tokens="on")
    assert not Token.objects.live().exists()


@pytest.fixture
def without_redis(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The cache of a Redis at which nobody listens."""
    monkeypatch.setattr(RedisOrLocalCache, "away_until", float("-inf"))
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}}
    cache.clear()
    yield
    cache.clear()


@pytest.mark.usefixtures("without_redis")
def test_guessing_is_stopped_while_redis_is_away(visitor: Client, alice: User) -> None:
    sign_in(visitor, alice.email)
    assert who(visitor) == str(alice.pk)
    guesser = Client(enforce_csrf_checks=True)
    for _ in range(5):
        sign_in(guesser, alice.email, "wrong")
    assert "too many" in sign_in(guesser, alice.email).content.decode().lower()
    assert who(guesser) is None


def test_guesses_are_counted_for_all_processes_and_for_longer_than_one_lives(
    visitor: Client, alice: User
) -> None:
    for _ in range(5):
        sign_in(visitor, alice.email, "wrong")
    with redis.Redis.from_url(django_settings.REDIS_URL) as client:
        (key,) = client.keys("kith:cache:*login_failed*key*") or client.keys("kith:cache:*login_failed*300*")
        assert len(orjson.loads(client.get(key) or b"")) == 5
    cache.clear()


def test_clearing_the_cache_leaves_the_rest_of_redis_alone() -> None:
    with redis.Redis.from_url(django_settings.REDIS_URL) as client:
        client.set("someone-elses", "1", ex=60)
        cache.set("mine", 1)
        cache.clear()
        assert (client.get("someone-elses"), cache.get("mine")) == (b"1", None)


def test_operators_enter_the_admin_by_the_same_door(visitor: Client, olive: User) -> None:
    door = visitor.get("/admin/", follow=True)
    assert door.redirect_chain[-1][0].startswith("/accounts/login/?next=")
    response = submit(
        visitor, "/accounts/login/", login="OLIVE@example.org", password=PASSWORD, next="/admin/"
    )
    assert response.url == "/admin/"
    assert visitor.get("/admin/").status_code == 200


def test_who_is_no_operator_does_not_enter_the_admin(visitor: Client, alice: User) -> None:
    sign_in(visitor, alice.email)
    assert visitor.get("/admin/", follow=True).status_code == 403


def test_an_account_of_the_command_line_needs_no_verification(
    visitor: Client, alice: User, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_in(visitor, alice.email)
    assert who(visitor) == str(alice.pk)
    assert not mail.outbox
    assert alice.date_joined <= timezone.now()


def test_sessions_that_are_over_are_dropped(visitor: Client, alice: User) -> None:
    visitor.force_login(alice)
    Session.objects.create(
        session_key="over", session_data="", expire_date=timezone.now() - timedelta(minutes=1)
    )
    drop_old_sessions()
    assert [one.session_key for one in Session.objects.all()] == [visitor.session.session_key]
