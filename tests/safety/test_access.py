"""What an operator does to how a person signs in is a right of its own, is on record, and the person is told of it."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Permission
from django.core import mail
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Token, User
from safety import notices
from safety.models import AuditEntry, Notice, OperatorAccess
from tests.accounts.visits import FRESH_PASSWORD, sign_in, submit, who
from tests.fixtures.people import PASSWORD

STOLEN = {"usable_password": "true", "password1": FRESH_PASSWORD, "password2": FRESH_PASSWORD}


@pytest.fixture(autouse=True)
def at_once(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits until all is saved is done at once: a test's transaction is never over."""
    monkeypatch.setattr(transaction, "on_commit", lambda work, **_more: work())


@pytest.fixture
def desk(client: Client, olive: User) -> Client:
    client.force_login(olive)
    return client


@pytest.fixture
def clerk(client: Client, bob: User) -> Client:
    """Bob, who may change people and addresses, but has neither of the rights of their own."""
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    bob.user_permissions.set(
        Permission.objects.filter(content_type__app_label__in=("accounts", "account")).exclude(
            codename__in=("set_password", "change_address")
        )
    )
    client.force_login(bob)
    return client


def deeds() -> list[tuple[str, str, str | None]]:
    entries = AuditEntry.objects.filter(kind="accounts.User").order_by("pk")
    return [(one.deed, one.operator.email, one.owner and one.owner.email) for one in entries]


def told(person: User) -> list[str]:
    return [one.kind for one in notices.list_unseen(person, timezone.now() + timedelta(days=30))]


def set_password(desk: Client, person: User) -> int:
    return desk.post(f"/admin/accounts/user/{person.pk}/password/", STOLEN).status_code


def test_whoever_may_change_people_sets_no_password_without_the_right(clerk: Client, alice: User) -> None:
    assert set_password(clerk, alice) == 403
    assert clerk.get(f"/admin/accounts/user/{alice.pk}/password/").status_code == 403
    assert (
        f"user/{alice.pk}/password"
        not in clerk.get(f"/admin/accounts/user/{alice.pk}/change/").content.decode()
    )
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)
    assert deeds() == []


def test_a_password_that_an_operator_set_is_on_record_and_told(desk: Client, alice: User) -> None:
    assert set_password(desk, alice) == 302
    assert deeds() == [("password_set", "olive@example.org", "alice@example.org")]
    assert told(alice) == ["password_set"]
    [letter] = mail.outbox
    assert letter.to == ["alice@example.org"]
    assert "has set a new password" in letter.body


@pytest.fixture
def with_mail(settings: Settings) -> None:
    """A Kith whose mails go out."""
    settings.EMAIL_URL = "smtp://127.0.0.1:1"


def change_password(visitor: Client, old: str, new: str) -> None:
    submit(visitor, "/accounts/password/change/", oldpassword=old, password1=new, password2=new)


def test_each_time_that_somebody_signs_in_with_it_is_on_record(desk: Client, alice: User) -> None:
    set_password(desk, alice)
    for _ in range(2):
        sign_in(Client(), alice.email, FRESH_PASSWORD)
    assert [deed for deed, *_ in deeds()] == ["password_set", "signed_in", "signed_in"]
    assert told(alice) == ["password_set", "signed_in"]


@pytest.mark.usefixtures("with_mail")
def test_who_knows_the_password_that_an_operator_set_ends_nothing_by_another(
    desk: Client, alice: User
) -> None:
    set_password(desk, alice)
    visitor, again = Client(), Client()
    sign_in(visitor, alice.email, FRESH_PASSWORD)
    change_password(visitor, FRESH_PASSWORD, PASSWORD)
    sign_in(again, alice.email)
    assert who(again) == str(alice.pk)
    assert [deed for deed, *_ in deeds()].count("signed_in") == 2


def test_where_no_mail_goes_out_another_password_ends_it(desk: Client, alice: User) -> None:
    set_password(desk, alice)
    visitor, again = Client(), Client()
    sign_in(visitor, alice.email, FRESH_PASSWORD)
    change_password(visitor, FRESH_PASSWORD, PASSWORD)
    sign_in(again, alice.email)
    assert who(again) == str(alice.pk)
    assert [deed for deed, *_ in deeds()].count("signed_in") == 1


def test_a_wrong_form_sets_and_tells_nothing(desk: Client, alice: User) -> None:
    wrong = STOLEN | {"password2": "another pair of shoes"}
    assert desk.post(f"/admin/accounts/user/{alice.pk}/password/", wrong).status_code == 200
    assert (deeds(), told(alice), mail.outbox) == ([], [], [])


def test_operators_themselves_are_not_told(desk: Client, olive: User) -> None:
    set_password(desk, olive)
    assert (deeds(), told(olive)) == ([], [])


def test_who_opens_an_account_knows_its_password(desk: Client) -> None:
    desk.post("/admin/accounts/user/add/", {"email": "carol@example.org", **STOLEN})
    carol = User.objects.get(email="carol@example.org")
    assert mail.outbox == []
    sign_in(Client(), carol.email, FRESH_PASSWORD)
    assert [deed for deed, *_ in deeds()] == ["password_set", "signed_in"]
    assert told(carol) == ["signed_in"]


def address(person: User, email: str) -> dict[str, str]:
    return {"user": str(person.pk), "email": email, "verified": "on"}


def test_whoever_may_change_addresses_needs_the_right(clerk: Client, alice: User) -> None:
    known = EmailAddress.objects.get(user=alice)
    assert (
        clerk.post("/admin/account/emailaddress/add/", address(alice, "bob2@example.org")).status_code == 403
    )
    page = f"/admin/account/emailaddress/{known.pk}"
    assert clerk.post(f"{page}/change/", address(alice, "bob2@example.org")).status_code == 403
    assert clerk.post(f"{page}/delete/", {"post": "yes"}).status_code == 403
    assert list(EmailAddress.objects.filter(user=alice)) == [known]


def test_with_the_right_a_superusers_address_is_still_out_of_reach(
    clerk: Client, bob: User, olive: User
) -> None:
    bob.user_permissions.add(Permission.objects.get(codename="change_address"))
    known = EmailAddress.objects.get(user=olive)
    assert clerk.post(f"/admin/account/emailaddress/{known.pk}/delete/", {"post": "yes"}).status_code == 403
    clerk.post("/admin/account/emailaddress/add/", address(olive, "bob2@example.org"))
    assert list(EmailAddress.objects.filter(user=olive)) == [known]


@pytest.mark.parametrize("deed", ["add", "change", "delete", "delete in the list"])
def test_an_address_that_an_operator_changed_is_told_at_the_one_before(
    desk: Client, alice: User, deed: str
) -> None:
    known, listing = EmailAddress.objects.get(user=alice), "/admin/account/emailaddress/"
    if deed == "add":
        desk.post(f"{listing}add/", address(alice, "olive2@example.org"))
    elif deed == "change":
        desk.post(f"{listing}{known.pk}/change/", {"email": "olive2@example.org", "verified": "on"})
    elif deed == "delete":
        desk.post(f"{listing}{known.pk}/delete/", {"post": "yes"})
    else:
        chosen = {"action": "delete_selected", "_selected_action": str(known.pk), "post": "yes"}
        desk.post(listing, chosen)
    assert [one.email for one in EmailAddress.objects.filter(user=alice)] != ["alice@example.org"]
    assert deeds() == [("address_changed", "olive@example.org", "alice@example.org")]
    assert told(alice) == ["address_changed"]
    assert [letter.to for letter in mail.outbox] == [["alice@example.org"]]


def test_what_an_operator_does_next_is_told_at_the_first_address_as_well(desk: Client, alice: User) -> None:
    desk.post("/admin/account/emailaddress/add/", address(alice, "olive2@example.org"))
    User.objects.filter(pk=alice.pk).update(email="olive2@example.org")
    assert set_password(desk, alice) == 302
    assert [letter.to for letter in mail.outbox] == 2 * [["alice@example.org"]]


def reset(email: str, password: str) -> None:
    """Choose a new password by the letter that comes to the address."""
    mail.outbox.clear()
    visitor = Client()
    submit(visitor, "/accounts/password/reset/", email=email)
    [path] = re.findall(r"(/accounts/password/reset/key/\S+)", mail.outbox.pop().body)
    submit(visitor, visitor.get(path).url, password1=password, password2=password)


def test_a_new_password_by_mail_to_a_changed_address_ends_nothing(desk: Client, alice: User) -> None:
    desk.post("/admin/account/emailaddress/add/", address(alice, "olive2@example.org"))
    reset("olive2@example.org", FRESH_PASSWORD)
    visitor = Client()
    sign_in(visitor, "olive2@example.org", FRESH_PASSWORD)
    assert who(visitor) == str(alice.pk)
    assert [deed for deed, *_ in deeds()] == ["address_changed", "signed_in"]
    assert mail.outbox[-1].to == ["alice@example.org"]


@pytest.mark.usefixtures("with_mail")
def test_an_address_that_an_operator_added_is_no_secret_way_in_after_a_new_password(
    desk: Client, alice: User
) -> None:
    desk.post("/admin/account/emailaddress/add/", address(alice, "olive2@example.org"))
    reset(alice.email, PASSWORD)  # the person does so while the other address is still there
    reset("olive2@example.org", FRESH_PASSWORD)
    sign_in(Client(), alice.email, FRESH_PASSWORD)
    assert [deed for deed, *_ in deeds()] == ["address_changed", "signed_in"]
    EmailAddress.objects.filter(email="olive2@example.org").delete()
    reset(alice.email, PASSWORD)
    assert not OperatorAccess.objects.exists()


@pytest.mark.usefixtures("with_mail")
def test_a_new_password_by_mail_to_the_persons_own_address_ends_it_and_what_was_opened_by_it(
    desk: Client, alice: User
) -> None:
    Token.objects.issue(alice, "before")
    Token.objects.update(created_at=timezone.now() - timedelta(days=1))
    set_password(desk, alice)
    Token.objects.issue(alice, "meanwhile")
    reset(alice.email, PASSWORD)
    visitor = Client()
    sign_in(visitor, alice.email)
    assert who(visitor) == str(alice.pk)
    assert [deed for deed, *_ in deeds()] == ["password_set"]
    assert not OperatorAccess.objects.exists()
    assert [one.name for one in Token.objects.live()] == ["before"]


def test_people_are_told_in_their_language(desk: Client, bob: User) -> None:
    set_password(desk, bob)
    assert "密码" in mail.outbox[0].body


def test_a_mail_server_that_is_away_loses_no_notice(desk: Client, alice: User, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    assert set_password(desk, alice) == 302
    assert told(alice) == ["password_set"]
    assert Notice.objects.get().seen_at is None


def test_who_closes_an_account_says_why_which_is_on_record_and_mailed(
    desk: Client, alice: User, olive: User, settings: Settings
) -> None:
    settings.CONTACT = "Olive, olive@example.org"
    form = {"email": alice.email, "time_zone": "UTC"}
    path = f"/admin/accounts/user/{alice.pk}/change/"
    desk.post(path, form | {"reason": "Threats against others."})
    desk.post(path, form | {"name": "Al"})
    desk.post(path, form | {"name": "Al", "is_active": "on"})
    own = {"email": olive.email, "time_zone": "UTC", "name": "Olive", "is_active": "on", "is_staff": "on"}
    desk.post(f"/admin/accounts/user/{olive.pk}/change/", own | {"is_superuser": "on"})
    olive.refresh_from_db()
    assert olive.name == "Olive"  # which is her own affair
    assert [deed for deed, _operator, _owner in deeds() if deed != "opened"] == [
        "closed",
        "changed",
        "reopened",
    ]
    assert AuditEntry.objects.get(deed="closed").reason == "Threats against others."
    closed, opened = (letter.body for letter in mail.outbox if letter.to == [alice.email])
    for part in ("has closed your account", "Threats against others.", "Olive, olive@example.org"):
        assert part in closed
    assert "has opened your account again" in opened
