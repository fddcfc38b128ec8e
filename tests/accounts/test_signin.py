"""Signing in and out, resetting a password, and the operators' door."""

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from accounts.tasks import drop_old_sessions
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


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_signing_in_sends_no_one_elsewhere(visitor: Client, alice: User, address: str) -> None:
    response = submit(visitor, "/accounts/login/", login=alice.email, password=PASSWORD, next=address)
    assert response.url == "/companions/"


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
