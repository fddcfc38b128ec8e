"""A person is told by mail what was changed in how they sign in, at the address that was in use before."""

from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core import mail
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from config.up.ports import find_free_port
from tests.accounts.test_mfa import code as show_code
from tests.accounts.visits import FRESH_PASSWORD, sign_in, submit, who
from tests.fixtures.people import PASSWORD

FRESH = {"password1": FRESH_PASSWORD, "password2": FRESH_PASSWORD}
ADDRESSES = "/accounts/email/"
OTHER = "alice@example.net"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def mail_is_sent(settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    settings.KITH_URL = "https://kith.example"


def change_password(client: Client) -> None:
    submit(client, "/accounts/password/change/", oldpassword=PASSWORD, **FRESH)


def add_address(client: Client) -> None:
    submit(client, ADDRESSES, email=OTHER, action_add="")


def use_other_address(client: Client) -> None:
    EmailAddress.objects.create(user=User.objects.get(), email=OTHER, verified=True)
    submit(client, ADDRESSES, email=OTHER, action_primary="")


def remove_address(client: Client) -> None:
    EmailAddress.objects.create(user=User.objects.get(), email=OTHER, verified=True)
    submit(client, ADDRESSES, email=OTHER, action_remove="")


def turn_app_off(client: Client) -> None:
    submit(client, "/accounts/2fa/totp/deactivate/")


def make_codes(client: Client) -> None:
    submit(client, "/accounts/2fa/recovery-codes/generate/")


def remove_passkey(client: Client) -> None:
    key = Authenticator.objects.create(user=User.objects.get(), type="webauthn", data={"name": "phone"})
    submit(client, f"/accounts/2fa/webauthn/keys/{key.pk}/remove/")


def make_token(client: Client) -> None:
    submit(client, "/settings/tokens/", name="laptop")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("change", "subject"),
    [
        (change_password, "Your password was changed"),
        (add_address, f"{OTHER} was added to your account"),
        (use_other_address, f"Your account now uses the address {OTHER}"),
        (remove_address, f"{OTHER} was removed from your account"),
        (turn_app_off, "The authenticator app was removed from your account"),
        (make_codes, "Your account has new recovery codes"),
        (remove_passkey, "A passkey was removed from your account"),
        (make_token, "An API token was added to your account"),
    ],
)
def test_a_change_is_told_at_the_address_that_was_in_use(
    visitor: Client, alice: User, change: Callable[[Client], None], subject: str
) -> None:
    sign_in(visitor, alice.email)
    submit(visitor, "/accounts/reauthenticate/", password=PASSWORD)
    TOTP.activate(alice, generate_totp_secret())
    RecoveryCodes.activate(alice)
    visitor.defaults["HTTP_USER_AGENT"] = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"
    change(visitor)
    letters = [letter for letter in mail.outbox if letter.to == ["alice@example.org"]]
    assert [letter.subject for letter in letters] == [subject]
    assert letters[0].body.startswith(subject)
    assert "Firefox · Linux" in letters[0].body
    assert [word for word in letters[0].body.split() if "://" in word] == [
        "https://kith.example/accounts/password/reset/"
    ]


def test_what_a_command_changes_is_told_as_well(
    alice: User, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.ALLOWED_HOSTS = ["kith.example"]
    TOTP.activate(alice, generate_totp_secret())
    call_command("remove_second_step", alice.email)
    call_command("create_token", alice.email)
    assert [letter.subject for letter in mail.outbox] == [
        "The authenticator app was removed from your account",
        "An API token was added to your account",
    ]
    assert {tuple(letter.to) for letter in mail.outbox} == {(alice.email,)}
    assert "127.0.0.1" not in mail.outbox[1].body
    assert capsys.readouterr().out.split()[-1] not in mail.outbox[1].body


def test_a_used_recovery_code_is_told(visitor: Client, alice: User) -> None:
    secret = generate_totp_secret()
    TOTP.activate(alice, secret)
    code = RecoveryCodes.activate(alice).get_unused_codes()[0]
    phone = Client(enforce_csrf_checks=True)
    for client, step in ((phone, show_code(secret)), (visitor, code)):
        sign_in(client, alice.email)
        submit(client, "/accounts/2fa/authenticate/", code=step)
        assert who(client) == str(alice.pk)
    (letter,) = mail.outbox
    assert letter.subject == "A recovery code of your account was used"
    assert code not in letter.body


def test_a_reset_is_told_in_the_persons_own_language_and_time(visitor: Client, alice: User) -> None:
    User.objects.update(language="zh-hans", time_zone="Mars/Olympus")
    submit(visitor, "/accounts/password/reset/", email=alice.email)
    link = next(word for word in mail.outbox[0].body.split() if "://" in word)
    form = visitor.get(link.removeprefix("https://kith.example")).url
    assert submit(visitor, form, **FRESH)["Content-Language"] == "en"
    assert "年" in mail.outbox[1].body


def test_a_change_stands_also_if_the_mail_cannot_be_sent(
    visitor: Client, alice: User, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", find_free_port()
    sign_in(visitor, alice.email)
    change_password(visitor)
    alice.refresh_from_db()
    assert alice.check_password(FRESH_PASSWORD)
    assert "Your password has been changed." in visitor.get("/settings/").content.decode()
