"""To which rows an action applies: to no more than a page can confirm, and to none that is gone, which is said."""

from uuid import uuid4

from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.test import Client

from accounts.admin import MAX_SELECTED_ROWS
from accounts.models import Token, User
from companions.models import Message
from safety.models import AuditEntry
from tests.admin.conftest import Scene
from tests.admin.walk import listing, page


def told(response: HttpResponse) -> list[str]:
    return [str(message) for message in get_messages(response.wsgi_request)]


def test_of_thousands_a_deletion_takes_so_many_at_once(desk: Client, alice: User) -> None:
    Token.objects.bulk_create(
        Token(user=alice, name="laptop", prefix="kith_", digest=str(number)) for number in range(1_100)
    )
    across = {"action": "delete_selected", "select_across": "1", "index": "0", "_selected_action": "1"}
    asked = desk.post(listing(Token), across)
    assert told(asked) == [
        "An action applies to at most 500 rows at once: this one to the first 500 of 1,100. Repeat it for the others."
    ]
    pks = [row.pk for row in asked.context["queryset"]]
    assert len(pks) == MAX_SELECTED_ROWS
    chosen = {"action": "delete_selected", "_selected_action": pks, "post": "yes"}
    assert desk.post(listing(Token), chosen).status_code == 302
    assert Token.objects.count() == 600
    assert AuditEntry.objects.filter(deed="deleted", kind="accounts.Token", owner=alice).count() == 500


def test_what_somebody_else_deleted_meanwhile_is_said(desk: Client, scene: Scene) -> None:
    both = {"action": "delete_selected", "_selected_action": [scene.message.pk, uuid4()], "index": "0"}
    assert desk.post(listing(Message), both).status_code == 200
    response = desk.post(listing(Message), both | {"_selected_action": [uuid4()]}, follow=True)
    assert "1 selected row is no longer in this list" in response.content.decode()
    assert Message.objects.filter(pk=scene.message.pk).exists()


def test_an_operator_of_whom_there_is_a_record_is_not_deleted(desk: Client, olive: User, alice: User) -> None:
    bob = User.objects.create(email="bob@example.org", is_staff=True)
    entries = [
        AuditEntry(operator=bob, deed="opened", kind="companions.Message", owner=alice) for _ in range(1_200)
    ]
    AuditEntry.objects.bulk_create(entries)
    for asked in (
        desk.get(page(bob, "delete")),
        desk.post(listing(User), {"action": "delete_selected", "_selected_action": [alice.pk, bob.pk]}),
    ):
        assert asked.context["protected"] == [
            "bob@example.org: 1,200 entries of what they did as an operator. "
            "The record of it stays, and so must the account: deactivate it instead."
        ]
    desk.post(page(bob, "delete"), {"post": "yes"})
    assert User.objects.filter(pk=bob.pk).exists()


def test_a_revoked_token_is_on_record_and_its_page_has_nothing_to_save(
    desk: Client, olive: User, alice: User
) -> None:
    token, _ = Token.objects.issue(alice, "laptop")
    shown = desk.get(page(token)).content.decode()
    assert "laptop" in shown
    assert 'name="_save"' not in shown
    for _again in range(2):
        desk.post(listing(Token), {"action": "revoke", "_selected_action": [token.pk]})
    entry = AuditEntry.objects.get()
    assert (entry.operator, entry.deed, entry.kind, entry.object_id) == (
        olive,
        "changed",
        "accounts.Token",
        str(token.pk),
    )
    assert entry.owner == alice
