"""What operators see of people, tokens, invitations and model calls."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Invitation, ModelCall, Token, User
from tests.admin.conftest import Desk
from tests.fixtures.people import PASSWORD

KINDS = ["user", "token", "invitation", "modelcall"]


@pytest.fixture
def client() -> Client:
    return Desk()


@pytest.fixture
def desk(client: Client, olive: User) -> Client:
    client.force_login(olive)
    return client


@pytest.fixture
def clerk(client: Client, bob: User) -> Client:
    """Bob as an operator who may see and change people, and is no superuser."""
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    bob.user_permissions.set(Permission.objects.filter(content_type__app_label="accounts"))
    client.force_login(bob)
    return client


def rows(alice: User, count: int) -> None:
    for number in range(count):
        Token.objects.issue(alice, f"token {number}")
        Invitation.objects.create(created_by=alice)
        ModelCall.objects.create(user=alice, started_at=timezone.now(), purpose="answer", model="m")


@pytest.mark.parametrize("kind", KINDS)
def test_lists_search_and_do_not_ask_row_by_row(
    desk: Client, alice: User, kind: str, django_assert_max_num_queries: Any
) -> None:
    rows(alice, 20)
    with django_assert_max_num_queries(20):
        response = desk.get(f"/admin/accounts/{kind}/", {"q": "alice"})
    assert response.status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_pages_open(desk: Client, alice: User, kind: str) -> None:
    rows(alice, 1)
    model = {"user": User, "token": Token, "invitation": Invitation, "modelcall": ModelCall}[kind]
    pk = model._default_manager.order_by("pk").values_list("pk", flat=True).first()
    assert desk.get(f"/admin/accounts/{kind}/{pk}/change/").status_code == 200


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_else_opens_them(client: Client, mallory: User, kind: str) -> None:
    client.force_login(mallory)
    assert client.get(f"/admin/accounts/{kind}/", follow=True).status_code == 403


def test_an_operator_changes_their_password_where_guesses_are_limited(desk: Client, olive: User) -> None:
    fresh = {
        "old_password": PASSWORD,
        "new_password1": "a fresh long one",
        "new_password2": "a fresh long one",
    }
    for response in (desk.get("/admin/password_change/"), desk.post("/admin/password_change/", fresh)):
        assert response.url == "/accounts/password/change/"
    olive.refresh_from_db()
    assert olive.check_password(PASSWORD)


def test_a_tokens_digest_is_on_no_page(desk: Client, alice: User) -> None:
    token, _ = Token.objects.issue(alice, "laptop")
    for path in ("", f"{token.pk}/change/"):
        page = desk.get(f"/admin/accounts/token/{path}").content.decode()
        assert token.prefix in page
        assert token.digest not in page


def test_tokens_are_revoked_from_the_list(desk: Client, alice: User) -> None:
    token, plaintext = Token.objects.issue(alice, "laptop")
    desk.post("/admin/accounts/token/", {"action": "revoke", "_selected_action": [token.pk]})
    assert Token.objects.matching(plaintext) is None


def test_making_an_invitation_shows_its_link(desk: Client, olive: User, settings: Settings) -> None:
    settings.KITH_URL = "https://kith.example"
    response = desk.post("/admin/accounts/invitation/add/", {"note": "for Carol"}, follow=True)
    invitation = Invitation.objects.get()
    assert invitation.created_by == olive
    link = f"https://kith.example/accounts/signup/?invite={invitation.code}"
    assert link in response.content.decode()
    assert link in desk.get(f"/admin/accounts/invitation/{invitation.pk}/change/").content.decode()


def test_model_calls_are_read_only(desk: Client, alice: User) -> None:
    rows(alice, 1)
    pk = ModelCall.objects.get().pk
    assert desk.get("/admin/accounts/modelcall/add/").status_code == 403
    assert desk.post(f"/admin/accounts/modelcall/{pk}/change/", {"outcome": "done"}).status_code == 403
    assert desk.post(f"/admin/accounts/modelcall/{pk}/delete/", {"post": "yes"}).status_code == 403


def test_model_calls_are_filtered_by_outcome_purpose_and_day(desk: Client, alice: User) -> None:
    for outcome in ("done", "refused"):
        ModelCall.objects.create(user=alice, started_at=timezone.now(), purpose="answer", outcome=outcome)
    today = timezone.now()
    query = {"outcome__exact": "refused", "purpose__exact": "answer", "started_at__day": today.day}
    found = desk.get("/admin/accounts/modelcall/", query).context["cl"].queryset
    assert [call.outcome for call in found] == ["refused"]


def test_an_operator_opens_an_account_that_can_sign_in(desk: Client) -> None:
    fields = {
        "email": "Carol@Example.org",
        "usable_password": "true",
        "password1": PASSWORD,
        "password2": PASSWORD,
    }
    assert desk.post("/admin/accounts/user/add/", fields).status_code == 302
    carol = User.objects.get(email="carol@example.org")
    assert EmailAddress.objects.get(user=carol).verified
    assert (
        Client().post("/accounts/login/", {"login": carol.email, "password": PASSWORD}).url == "/companions/"
    )


@pytest.mark.parametrize("email", ["ALICE@example.org", "second@example.org"])
def test_an_address_is_given_to_one_account(desk: Client, alice: User, email: str) -> None:
    EmailAddress.objects.create(user=alice, email="second@example.org", verified=True)
    fields = {
        "email": email,
        "usable_password": "true",
        "password1": PASSWORD,
        "password2": PASSWORD,
    }
    response = desk.post("/admin/accounts/user/add/", fields)
    assert "email" in response.context["adminform"].form.errors


def profile(**changed: str) -> dict[str, str]:
    return {
        "name": "Al",
        "language": "",
        "time_zone": "UTC",
        "is_active": "on",
        "messages_per_minute": "5",
        "tokens_per_day": "",
    } | changed


def test_an_operator_sets_limits_and_zone(desk: Client, alice: User) -> None:
    response = desk.post(f"/admin/accounts/user/{alice.pk}/change/", profile(time_zone="Asia/Tokyo"))
    assert response.status_code == 302
    alice.refresh_from_db()
    assert (alice.messages_per_minute, alice.tokens_per_day, alice.time_zone) == (5, None, "Asia/Tokyo")


@pytest.mark.parametrize("changed", [{"time_zone": "Mars/Olympus"}, {"language": "tlh"}])
def test_zone_and_language_are_of_those_that_there_are(
    desk: Client, alice: User, changed: dict[str, str]
) -> None:
    response = desk.post(f"/admin/accounts/user/{alice.pk}/change/", profile(**changed))
    assert list(response.context["adminform"].form.errors) == list(changed)


def test_only_a_superuser_gives_rights(clerk: Client, alice: User) -> None:
    more = {"is_staff": "on", "is_superuser": "on"}
    assert clerk.post(f"/admin/accounts/user/{alice.pk}/change/", profile(**more)).status_code == 302
    alice.refresh_from_db()
    assert (alice.name, alice.is_staff, alice.is_superuser) == ("Al", False, False)


def test_only_a_superuser_changes_what_a_group_may(clerk: Client, bob: User) -> None:
    bob.user_permissions.set(Permission.objects.all())
    mine = Group.objects.create(name="clerks")
    bob.groups.add(mine)
    right = Permission.objects.get(codename="set_password")
    fields = {"name": "clerks", "permissions": str(right.pk)}
    assert clerk.post(f"/admin/auth/group/{mine.pk}/change/", fields).status_code == 403
    assert clerk.post("/admin/auth/group/add/", {**fields, "name": "more"}).status_code == 403
    assert clerk.post(f"/admin/auth/group/{mine.pk}/delete/", {"post": "yes"}).status_code == 403
    assert not mine.permissions.exists()


def test_only_a_superuser_touches_a_superuser(clerk: Client, olive: User) -> None:
    page = f"/admin/accounts/user/{olive.pk}"
    fields = {
        "usable_password": "true",
        "password1": "a stolen pair of wings",
        "password2": "a stolen pair of wings",
    }
    assert clerk.post(f"{page}/password/", fields).status_code == 403
    assert clerk.post(f"{page}/change/", profile()).status_code == 403
    assert clerk.post(f"{page}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": str(olive.pk), "post": "yes"}
    assert clerk.post("/admin/accounts/user/", chosen).status_code == 403
    olive.refresh_from_db()
    assert olive.check_password(PASSWORD)


def test_deleting_a_person_takes_what_is_theirs(desk: Client, alice: User) -> None:
    rows(alice, 1)
    assert desk.post(f"/admin/accounts/user/{alice.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not User.objects.filter(pk=alice.pk).exists()
    assert not ModelCall.objects.exists()
