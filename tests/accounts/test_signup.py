"""Signing up by e-mail: open, by invitation, closed; and what bad input gets."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.models import Invitation, User
from accounts.signup import AccountAdapter
from config.up.ports import find_free_port
from tests.accounts.visits import sign_in, sign_up, submit, who
from tests.fixtures.mail_server import MailServer
from tests.fixtures.people import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def is_open(settings: Settings) -> None:
    settings.KITH_SIGNUP = "open"


def test_signing_up_lets_one_in_at_once(visitor: Client) -> None:
    response = sign_up(visitor, "Carol@Example.org")
    carol = User.objects.get()
    assert (response.status_code, response.url) == (302, "/companions/")
    assert carol.email == "carol@example.org"
    assert carol.check_password(PASSWORD)
    assert who(visitor) == str(carol.pk)
    assert not carol.is_staff


def test_where_no_mail_is_sent_none_is_spoken_of(visitor: Client) -> None:
    sign_up(visitor)
    page = visitor.get("/companions/new/")
    assert not mail.outbox
    assert not list(page.context["messages"])
    assert "mail" not in page.content.decode()


def test_two_fields_are_enough(visitor: Client) -> None:
    form = visitor.get("/accounts/signup/").context["form"]
    assert [field.name for field in form.visible_fields()] == ["email", "password1"]


def test_where_mail_is_sent_one_is_let_in_after_verifying(visitor: Client, settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    assert sign_up(visitor).url == "/accounts/confirm-email/"
    assert who(visitor) is None
    (letter,) = mail.outbox
    assert letter.to == ["carol@example.org"]
    link = find_link(letter)
    assert not EmailAddress.objects.get().verified
    assert Client().post(link).status_code == 302
    assert EmailAddress.objects.get().verified
    second_tap = Client().post(link)
    assert second_tap.status_code == 200
    assert "the address is confirmed" in second_tap.content.decode()


def test_while_the_mail_server_is_away_nothing_is_begun(
    visitor: Client, alice: User, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", find_free_port()
    for answer in (
        sign_up(visitor),
        sign_up(visitor, alice.email),
        submit(visitor, "/accounts/password/reset/", email=alice.email),
        submit(visitor, "/accounts/password/reset/", email="nobody@example.org"),
    ):
        assert (answer.status_code, answer["Retry-After"]) == (503, "60")
        assert "cannot send mail right now" in answer.content.decode()
    assert list(User.objects.all()) == [alice]


@pytest.mark.parametrize(("answer", "status"), [("550 no such user", 422), ("450 later", 503)])
def test_an_address_that_the_mail_server_refuses_for_good_is_to_be_checked(
    visitor: Client, settings: Settings, answer: str, status: int
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with MailServer(answers={"RCPT": answer}) as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        told = sign_up(visitor)
    assert told.status_code == status
    assert ("does not accept this address" in told.content.decode()) == (status == 422)
    assert not User.objects.exists()


def test_whoever_tries_again_once_the_mail_server_is_back_is_sent_the_mail(
    visitor: Client, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    works = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", find_free_port()
    assert sign_up(visitor, "Carol@example.org").status_code == 503
    settings.EMAIL_BACKEND = works
    assert sign_up(visitor, "Carol@example.org").url == "/accounts/confirm-email/"
    assert [letter.to for letter in mail.outbox] == [["carol@example.org"]]


def test_zone_and_language_are_taken_along(visitor: Client) -> None:
    visitor.defaults["HTTP_ACCEPT_LANGUAGE"] = "zh-Hans"
    sign_up(visitor, time_zone="Asia/Shanghai")
    carol = User.objects.get()
    assert (carol.time_zone, carol.language) == ("Asia/Shanghai", "zh-hans")


@pytest.mark.parametrize(
    "zone", ["", "Mars/Olympus", "../etc/passwd", "localtime", "Europe/Berlin\x00", "x" * 100_000]
)
def test_what_is_no_zone_is_utc(visitor: Client, zone: str) -> None:
    sign_up(visitor, time_zone=zone)
    assert User.objects.get().time_zone == "UTC"


@pytest.mark.parametrize(
    "fields",
    [
        {"email": ""},
        {"email": "nothing"},
        {"email": "ca\x00rol@example.org"},
        {"email": f"{'a' * 60}@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.org"},
        {"email": "carol@ｅxample.org"},
        {"password1": ""},
        {"password1": "short"},
        {"password1": "carol@example.org"},
        {"password1": "correct horse\x00 battery"},
        {"password1": "correct horse " * 100},
    ],
)
def test_bad_input_gets_the_form_back(visitor: Client, fields: dict[str, str]) -> None:
    response = sign_up(visitor, **fields)
    assert response.status_code == 200
    assert set(response.context["form"].errors) == set(fields)
    assert not User.objects.exists()


@pytest.mark.parametrize("email", ["alice@example.org", "ALICE@Example.org"])
def test_an_address_is_taken_once(visitor: Client, alice: User, email: str) -> None:
    response = sign_up(visitor, email)
    assert response.context["form"].errors["email"] == [
        "You cannot sign up with this address. If you already have an account, sign in."
    ]
    assert User.objects.count() == 1


class CountingHasher(MD5PasswordHasher):
    """Counts the passwords that were hashed."""

    count = 0

    def encode(self, password: str, salt: str) -> str:
        CountingHasher.count += 1
        return super().encode(password, salt)


@pytest.mark.parametrize("verification", ["mandatory", "none"])
def test_a_known_address_costs_the_same_work_as_a_new_one(
    visitor: Client, alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch, verification: str
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]
    hashes = []
    for email in ("alice@example.org", "carol@example.org"):
        monkeypatch.setattr(CountingHasher, "count", 0)
        sign_up(visitor, email)
        hashes.append(CountingHasher.count)
        visitor.logout()
    assert hashes == [1, 1]
    assert len(mail.outbox) == (2 if verification == "mandatory" else 0)


def test_a_bad_password_does_not_tell_who_has_an_account(visitor: Client, alice: User) -> None:
    known, new = (
        sign_up(visitor, email, password1="short").context["form"].errors
        for email in ("alice@example.org", "carol@example.org")
    )
    assert dict(known) == dict(new)


def test_nobody_tries_addresses_without_end(visitor: Client, alice: User) -> None:
    answers = [sign_up(visitor, "alice@example.org") for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert "Wait a few minutes" in answers[-1].content.decode()


def test_where_mail_is_sent_it_is_not_told_who_has_an_account(
    visitor: Client, alice: User, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    assert sign_up(visitor, "alice@example.org").url == "/accounts/confirm-email/"
    assert User.objects.count() == 1
    assert [letter.to for letter in mail.outbox] == [["alice@example.org"]]


def test_a_closed_kith_says_so_and_takes_no_one(visitor: Client, settings: Settings) -> None:
    settings.KITH_SIGNUP = "closed"
    for response in (
        visitor.get("/accounts/signup/"),
        Client().post("/accounts/signup/", {"email": "carol@example.org", "password1": PASSWORD}),
    ):
        assert response.status_code == 403
        assert "account/signup_closed.html" in [template.name for template in response.templates]
    assert not User.objects.exists()


def test_an_invitation_lets_one_person_in(visitor: Client, settings: Settings) -> None:
    settings.KITH_SIGNUP = "invite"
    invitation = Invitation.objects.create(note="Carol")
    response = sign_up(visitor, page=f"/accounts/signup/?invite={invitation.code}")
    assert response.url == "/companions/"
    invitation.refresh_from_db()
    assert invitation.used_by == User.objects.get()
    assert invitation.used_at is not None
    assert Client().get(f"/accounts/signup/?invite={invitation.code}").status_code == 403


@pytest.mark.parametrize(
    "query", ["", "?invite=", "?invite=nothing", "?invite=a%00b", f"?invite={'x' * 5000}", "?invite=é"]
)
def test_without_a_good_invitation_the_door_is_closed(
    visitor: Client, settings: Settings, query: str
) -> None:
    settings.KITH_SIGNUP = "invite"
    Invitation.objects.create()
    assert visitor.get(f"/accounts/signup/{query}").status_code == 403
    assert Client().post(f"/accounts/signup/{query}", {"email": "carol@example.org"}).status_code == 403


def test_a_mistyped_address_can_be_corrected_until_it_is_confirmed(
    visitor: Client, settings: Settings
) -> None:
    settings.KITH_SIGNUP, settings.ACCOUNT_EMAIL_VERIFICATION = "invite", "mandatory"
    invitation = Invitation.objects.create()
    sign_up(visitor, "carol@exmaple.org", page=f"/accounts/signup/?invite={invitation.code}")
    sent = visitor.get("/accounts/confirm-email/").content.decode()
    assert "carol@exmaple.org" in sent
    again = submit(visitor, "/accounts/signup/withdraw/", "/accounts/confirm-email/")
    assert again.url == "/accounts/signup/"
    assert not User.objects.exists()
    sign_up(visitor)
    carol = User.objects.get()
    invitation.refresh_from_db()
    assert (carol.email, invitation.used_by) == ("carol@example.org", carol)


@pytest.mark.parametrize("email", ["carol@example.org", "alice@example.org"])
def test_the_mail_can_be_sent_again_after_a_while_whoever_has_the_address(
    visitor: Client, alice: User, settings: Settings, email: str
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sent, again = "/accounts/confirm-email/", "/accounts/signup/send-again/"
    sign_up(visitor, email)
    submit(visitor, again, sent)
    assert "once in three minutes" in visitor.get(sent).content.decode()
    cache.clear()  # as after three minutes
    submit(visitor, again, sent)
    page = visitor.get(sent).content.decode()
    assert "was sent again" in page
    assert email in page
    first, second = mail.outbox
    assert (first.to, first.subject) == (second.to, second.subject) == ([email], first.subject)


@pytest.mark.parametrize(("path", "minutes", "mails"), [("send-again", 3, 5), ("withdraw", 1, 6)])
def test_nobody_fills_a_strangers_mailbox(
    visitor: Client,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    minutes: int,
    mails: int,
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(visitor)
    for _time in range(11):
        later = time.time() + minutes * 60 + 1
        monkeypatch.setattr(time, "time", lambda now=later: now)
        submit(visitor, f"/accounts/signup/{path}/", "/accounts/confirm-email/")
        if path == "withdraw":
            sign_up(visitor)
    assert len(mail.outbox) == mails


def test_whoever_signs_in_before_confirming_can_have_the_mail_sent_again(
    visitor: Client, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(Client(enforce_csrf_checks=True))
    assert sign_in(visitor, "carol@example.org").url == "/accounts/confirm-email/"
    cache.clear()
    submit(visitor, "/accounts/signup/send-again/", "/accounts/confirm-email/")
    assert [letter.to for letter in mail.outbox] == [["carol@example.org"]] * 2
    EmailAddress.objects.update(verified=True)
    cache.clear()
    refused = submit(visitor, "/accounts/signup/send-again/", "/accounts/confirm-email/")
    assert (len(mail.outbox), refused.url) == (2, "/accounts/login/")


def find_link(letter: mail.EmailMessage) -> str:
    return next(word for word in letter.body.split() if "/accounts/confirm-email/" in word)


def test_whoever_takes_back_a_correct_address_is_sent_a_link_that_works(
    visitor: Client, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(visitor)
    submit(visitor, "/accounts/signup/withdraw/", "/accounts/confirm-email/")
    sign_up(visitor)
    dead, alive = (Client().get(find_link(letter)).content.decode() for letter in mail.outbox)
    assert "Is carol@example.org your address?" in alive
    assert "the sign-up was taken back" in dead
    assert 'href="/accounts/signup/"' in dead


def test_a_link_that_does_not_work_says_why_and_where_to_go_on(
    visitor: Client, alice: User, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(visitor)
    link = find_link(mail.outbox[0])
    page = Client().get(link[:-9] + "/").content.decode()
    assert "This link is not whole" in page
    assert 'href="/accounts/login/"' in page
    settings.ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 0
    assert "has expired" in Client().get(link).content.decode()
    settings.ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 3
    EmailAddress.objects.create(user=alice, email="carol@example.org", verified=True)
    page = Client().get(link).content.decode()
    assert "already belongs to another account" in page
    assert 'href="/accounts/login/"' in page


@pytest.mark.parametrize(
    "how", [{"is_active": False}, {"last_login": datetime(2026, 1, 1, tzinfo=UTC)}, {}], ids=str
)
def test_an_account_that_was_used_is_not_withdrawn(
    visitor: Client, settings: Settings, how: dict[str, Any]
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_up(visitor)
    User.objects.update(**{"name": "Carol"} | how)
    EmailAddress.objects.update(verified=not how)
    submit(visitor, "/accounts/signup/withdraw/", "/accounts/confirm-email/")
    assert User.objects.get().name == "Carol"


def test_whoever_corrects_an_address_that_is_taken_keeps_the_invitation(
    visitor: Client, settings: Settings, alice: User
) -> None:
    settings.KITH_SIGNUP, settings.ACCOUNT_EMAIL_VERIFICATION = "invite", "mandatory"
    invitation = Invitation.objects.create()
    sign_up(visitor, alice.email, page=f"/accounts/signup/?invite={invitation.code}")
    submit(visitor, "/accounts/signup/withdraw/", "/accounts/confirm-email/")
    assert visitor.get("/accounts/signup/").status_code == 200
    assert User.objects.get() == alice


def test_a_form_with_errors_leaves_the_invitation_open(visitor: Client, settings: Settings) -> None:
    settings.KITH_SIGNUP = "invite"
    invitation = Invitation.objects.create()
    sign_up(visitor, page=f"/accounts/signup/?invite={invitation.code}", password1="short")
    sign_up(visitor)
    assert User.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_with_one_invitation_one_gets_in(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.KITH_SIGNUP = "invite"
    both_may, save_user = Barrier(2), AccountAdapter.save_user

    def meet_and_save(*arguments: Any, **named: Any) -> User:
        both_may.wait(10)
        return save_user(*arguments, **named)

    monkeypatch.setattr(AccountAdapter, "save_user", meet_and_save)
    settings.ACCOUNT_RATE_LIMITS = False  # whose count takes one after the other
    invitation = Invitation.objects.create()
    refused, let_in = race(f"?invite={invitation.code}", ["carol@example.org", "dave@example.org"])
    assert let_in == 1
    assert "has already been used" in refused
    assert Invitation.objects.get().used_by == User.objects.get()
    assert EmailAddress.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_with_one_address_one_gets_in(settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = False  # whose count takes one after the other
    refused, let_in = race("", ["carol@example.org", "Carol@example.org"])
    assert let_in == 1
    assert refused
    assert User.objects.count() == EmailAddress.objects.count() == 1


def race(query: str, emails: list[str]) -> tuple[str, int]:
    """What was said to whoever was refused, and how many were let in."""
    start = Barrier(len(emails))

    def post(email: str) -> tuple[int, str]:
        client = Client()
        client.get(f"/accounts/signup/{query}")
        start.wait(10)
        response = client.post("/accounts/signup/", {"email": email, "password1": PASSWORD})
        connection.close()
        errors = "" if response.status_code == 302 else str(response.context["form"].errors)
        return response.status_code, errors

    with ThreadPoolExecutor(len(emails)) as threads:
        answers = list(threads.map(post, emails))
    assert {status for status, _ in answers} == {200, 302}
    return "".join(errors for _, errors in answers), sum(status == 302 for status, _ in answers)
