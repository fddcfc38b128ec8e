"""A person's own settings: profile, usage, tokens, and leaving for good."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AccountDeletion, ModelCall, Token, User
from accounts.models.user import list_time_zones
from accounts.time_zones import OTHER_NAMES
from companions.models import Companion
from safety.models import AuditEntry
from tests.accounts.visits import FRESH_PASSWORD, submit
from tests.fixtures import faults
from tests.fixtures.people import PASSWORD, sign_in

POSTS = ["/settings/profile/", "/settings/tokens/", "/settings/tokens/1/revoke/", "/settings/delete/"]


@pytest.fixture
def at_home(visitor: Client, alice: User) -> Client:
    sign_in(visitor, alice)
    return visitor


@pytest.fixture
def confirmed(at_home: Client) -> Client:
    """At home, with the password typed a moment ago."""
    submit(at_home, "/accounts/reauthenticate/", password=PASSWORD)
    return at_home


def send(client: Client, path: str, **fields: str) -> Any:
    return submit(client, path, "/settings/", **fields)


def test_settings_are_for_who_is_signed_in(client: Client, alice: User) -> None:
    assert client.get("/settings/").url.startswith("/accounts/login/?next=")
    for path in POSTS:
        assert client.post(path).url.startswith("/accounts/login/?next=")


@pytest.mark.parametrize("path", POSTS)
def test_nothing_changes_by_a_link_or_from_another_site(at_home: Client, path: str) -> None:
    assert at_home.get(path).status_code == 405
    assert at_home.post(path).status_code == 403


def test_the_profile_is_saved(at_home: Client, alice: User) -> None:
    response = send(at_home, "/settings/profile/", name="Al", time_zone="Asia/Tokyo", language="zh-hans")
    assert response.url == "/settings/"
    alice.refresh_from_db()
    assert (alice.name, alice.time_zone, alice.language) == ("Al", "Asia/Tokyo", "zh-hans")


@pytest.mark.parametrize(
    ("typed", "zone"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"),
        (" new york ", "America/New_York"),
        ("Sao_Paulo", "America/Sao_Paulo"),
        ("München", "Europe/Berlin"),
        ("北京", "Asia/Shanghai"),
        ("utc", "UTC"),
    ],
)
def test_a_time_zone_is_found_by_its_city(at_home: Client, alice: User, typed: str, zone: str) -> None:
    send(at_home, "/settings/profile/", name="Al", time_zone=typed, language="")
    alice.refresh_from_db()
    assert alice.time_zone == zone
    assert f'<option value="{zone}"' in at_home.get("/settings/").content.decode()


def test_every_other_name_belongs_to_a_zone_that_there_is() -> None:
    assert set(OTHER_NAMES) <= set(list_time_zones())


def test_the_language_is_switched_on_every_page_and_kept(at_home: Client, alice: User) -> None:
    page = at_home.get("/settings/").content.decode()
    assert page.count(">English</button>") == page.count(">简体中文</button>") == 1
    response = send(at_home, "/language/", language="zh-hans", next="/settings/")
    assert response.url == "/settings/"
    alice.refresh_from_db()
    assert alice.language == "zh-hans"
    page = at_home.get("/settings/").content.decode()
    assert '<html lang="zh-hans"' in page
    assert page.count(">English</button>") == page.count(">简体中文</button>") == 1  # each in itself
    send(at_home, "/language/", language="tlh", next="/settings/")
    alice.refresh_from_db()
    assert alice.language == "zh-hans"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "x" * 81),
        ("name", "a\x00b"),
        ("time_zone", "Mars/Olympus"),
        ("time_zone", ""),
        ("time_zone", "x" * 10_000),
        ("language", "tlh"),
    ],
)
def test_a_bad_profile_is_shown_again_and_not_saved(
    at_home: Client, alice: User, field: str, value: str
) -> None:
    fields = {"name": "Al", "time_zone": "UTC", "language": ""} | {field: value}
    response = send(at_home, "/settings/profile/", **fields)
    assert response.status_code == 422
    assert list(response.context["profile_form"].errors) == [field]
    alice.refresh_from_db()
    assert (alice.name, alice.time_zone) == ("Alice", "Europe/Berlin")


def test_the_profile_gives_no_rights(at_home: Client, alice: User) -> None:
    more = {"is_staff": "on", "is_superuser": "on", "tokens_per_day": "9", "email": "x@example.org"}
    send(at_home, "/settings/profile/", name="Al", time_zone="UTC", language="", **more)
    alice.refresh_from_db()
    assert (alice.is_staff, alice.is_superuser, alice.tokens_per_day) == (False, False, None)
    assert alice.email == "alice@example.org"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/settings/profile/", {"name": "Alice", "time_zone": "UTC"}),
        (
            "/accounts/password/change/",
            {"oldpassword": PASSWORD, "password1": FRESH_PASSWORD, "password2": FRESH_PASSWORD},
        ),
    ],
)
def test_a_form_does_not_give_back_what_an_operator_takes_away_meanwhile(
    visitor: Client, alice: User, path: str, fields: dict[str, str]
) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    visitor.force_login(alice)

    def take_away() -> None:
        taken = {"is_staff": False, "is_active": False, "tokens_per_day": 0}
        with ThreadPoolExecutor(1) as other:
            other.submit(User.objects.filter(pk=alice.pk).update, **taken).result(30)

    with faults.before(faults.begins('UPDATE "accounts_user"'), take_away):
        submit(visitor, path, "/settings/" if path.startswith("/settings") else path, **fields)
    alice.refresh_from_db()
    assert (alice.is_staff, alice.is_active, alice.tokens_per_day) == (False, False, 0)


def test_usage_of_today_is_shown(at_home: Client, alice: User) -> None:
    User.objects.update(tokens_per_day=98765)
    for started_at, tokens in ((timezone.now(), 4321), (timezone.now() - timedelta(days=2), 5)):
        ModelCall.objects.create(user=alice, started_at=started_at, prompt_tokens=tokens, purpose="answer")
    page = at_home.get("/settings/").content.decode()
    assert "4,321 / 98,765" in page


def test_a_token_is_shown_once(confirmed: Client, alice: User) -> None:
    response = send(confirmed, "/settings/tokens/", name="laptop")
    plaintext = response.context["plaintext"]
    assert response.status_code == 201
    assert plaintext in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    assert Token.objects.matching(plaintext) == Token.objects.owned_by(alice).get(name="laptop")
    page = confirmed.get("/settings/").content.decode()
    assert "laptop" in page
    assert plaintext not in page


def test_a_token_is_made_once_the_password_is_typed(at_home: Client, alice: User) -> None:
    asked = send(at_home, "/settings/tokens/", name="laptop")
    assert asked.url.startswith("/accounts/reauthenticate/?")
    assert submit(at_home, asked.url, password="wrong").status_code == 200
    assert not Token.objects.exists()
    made = submit(at_home, asked.url, password=PASSWORD)
    assert Token.objects.matching(made.context["plaintext"]) == Token.objects.owned_by(alice).get(
        name="laptop"
    )


@pytest.mark.parametrize("name", ["", "x" * 81, "a\x00b"])
def test_a_token_needs_a_name(confirmed: Client, name: str) -> None:
    assert send(confirmed, "/settings/tokens/", name=name).status_code == 422
    assert not Token.objects.exists()


def test_a_revoked_token_is_gone_from_the_list(at_home: Client, alice: User) -> None:
    token, plaintext = Token.objects.issue(alice, "laptop")
    send(at_home, f"/settings/tokens/{token.pk}/revoke/")
    assert Token.objects.matching(plaintext) is None
    assert "laptop" not in at_home.get("/settings/").content.decode()


def test_another_persons_token_does_not_exist(at_home: Client, bob: User) -> None:
    token, plaintext = Token.objects.issue(bob, "bobs own")
    assert send(at_home, f"/settings/tokens/{token.pk}/revoke/").status_code == 404
    assert Token.objects.matching(plaintext) == token
    assert "bobs own" not in at_home.get("/settings/").content.decode()


def test_deleting_takes_everything_of_ones_own(at_home: Client, alice: User, bob: User) -> None:
    for user in (alice, bob):
        Token.objects.issue(user, "laptop")
        ModelCall.objects.create(user=user, started_at=timezone.now(), purpose="answer")
        Companion.objects.create(user=user, name="Juniper")
    assert send(at_home, "/settings/delete/", password=PASSWORD).url == "/"
    assert list(User.objects.all()) == [bob]
    for model in (Token, ModelCall, Companion, EmailAddress):
        assert [row.user for row in model._default_manager.all()] == [bob]
    assert at_home.get("/settings/").status_code == 302


def test_operators_see_that_an_account_was_deleted_by_its_owner_and_when(
    at_home: Client, client: Client, alice: User, olive: User
) -> None:
    number, joined = alice.pk, alice.date_joined
    send(at_home, "/settings/delete/", password="wrong")
    assert not AccountDeletion.objects.exists()
    before = timezone.now()
    send(at_home, "/settings/delete/", password=PASSWORD)
    record = AccountDeletion.objects.get()
    assert (record.account, record.joined_at) == (number, joined)
    assert before <= record.deleted_at <= timezone.now()
    User.objects.filter(pk=olive.pk).update(is_superuser=True)
    client.force_login(olive)
    shown = client.get("/admin/accounts/accountdeletion/", {"q": str(number)})
    assert list(shown.context["cl"].queryset) == [record]
    assert "alice" not in shown.content.decode()


@pytest.mark.parametrize("typed", ["", "alice@example.org", "a\x00b", "x" * 3_000])
def test_deleting_asks_for_ones_password(at_home: Client, bob: User, typed: str) -> None:
    response = send(at_home, "/settings/delete/", password=typed)
    assert response.status_code == 422
    assert response.context["deletion_form"].errors
    assert User.objects.count() == 2


def test_guessing_the_password_by_deleting_is_stopped(at_home: Client, alice: User) -> None:
    cache.clear()
    for _ in range(10):
        send(at_home, "/settings/delete/", password="wrong")
    response = send(at_home, "/settings/delete/", password=PASSWORD)
    cache.clear()
    assert "tried too often" in str(response.context["deletion_form"].errors)
    assert User.objects.filter(pk=alice.pk).exists()


def test_an_operator_named_in_the_audit_stays(visitor: Client, olive: User) -> None:
    AuditEntry.objects.create(operator=olive, deed=AuditEntry.Deed.OPENED, kind="message")
    visitor.force_login(olive)
    response = send(visitor, "/settings/delete/", password=PASSWORD)
    assert response.status_code == 409
    assert "names you" in str(response.context["deletion_form"].errors)
    assert User.objects.filter(pk=olive.pk).exists()
    assert visitor.get("/settings/").status_code == 200


def test_a_person_holds_only_so_many_tokens(confirmed: Client, alice: User, settings: Settings) -> None:
    settings.TOKENS_EACH = 2
    answers = [send(confirmed, "/settings/tokens/", name=f"t{n}") for n in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 422]
    assert "Revoke one first" in answers[2].content.decode()
    Token.objects.first().revoke(timezone.now())
    assert send(confirmed, "/settings/tokens/", name="t4").status_code == 201


def test_a_token_is_made_for_as_long_as_is_chosen(confirmed: Client) -> None:
    before = timezone.now()
    assert send(confirmed, "/settings/tokens/", name="week", days="7").status_code == 201
    assert send(confirmed, "/settings/tokens/", name="ever", days="").status_code == 201
    assert send(confirmed, "/settings/tokens/", name="long", days="36500").status_code == 422
    ends = dict(Token.objects.values_list("name", "expires_at"))
    assert before + timedelta(days=7) <= ends.pop("week") <= timezone.now() + timedelta(days=7)
    assert ends == {"ever": None}
    assert confirmed.get("/settings/").content.decode().count("expires ") == 1


def test_the_page_says_that_a_token_has_expired(at_home: Client, alice: User) -> None:
    Token.objects.issue(alice, "old", timezone.now() - timedelta(days=1))
    assert "expired " in at_home.get("/settings/").content.decode()


def test_the_settings_page_takes_a_description(at_home: Client, alice: User) -> None:
    fields = {"name": "Alice", "about": "I repair clocks.", "time_zone": "Europe/Berlin", "language": ""}
    assert send(at_home, "/settings/profile/", **fields).status_code == 302
    alice.refresh_from_db()
    assert alice.about == "I repair clocks."
    assert "I repair clocks." in at_home.get("/settings/").content.decode()
