"""An operator deletes on record, and then from everywhere."""

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from companions.models import Message, Prompt
from files.models import StoredFile
from memory.models import Memory
from safety.models import AuditEntry
from tests.admin.conftest import NOON, WHY, Scene, ask
from tests.admin.walk import MARKER, listing, page

WORD = "axolotl"


def tables_with(word: str) -> set[str]:
    """The labels of all models of which a row holds the word anywhere."""
    return {
        model._meta.label
        for model in apps.get_models()
        if any(word in str(row) for row in model._base_manager.values_list())
    }


@pytest.fixture
def told(scene: Scene) -> Message:
    """A message with a word of its own that a prompt has shown."""
    message = ask(scene.companion, f"My {WORD} is ill.", NOON)
    Prompt.objects.update(shown=[message.pk], messages=[{"role": "user", "content": WORD}])
    return message


def deletions() -> list[tuple[str, str]]:
    return list(AuditEntry.objects.filter(deed="deleted").values_list("kind", "object_id"))


def test_a_deleted_message_is_gone_from_everywhere(desk: Client, told: Message, alice: User) -> None:
    assert {"companions.Message", "memory.Memory", "companions.Prompt"} <= tables_with(WORD)
    response = desk.get(page(told, "delete"))
    assert response.status_code == 200
    assert WORD not in response.content.decode()
    assert not deletions()
    assert desk.post(page(told, "delete"), {"post": "yes"}).status_code == 302
    assert tables_with(WORD) == set()
    assert deletions() == [("companions.Message", str(told.pk))]
    entry = AuditEntry.objects.get(deed="deleted")
    assert (entry.owner, entry.reason) == (alice, WHY)
    assert LogEntry.objects.get().object_repr == str(told)


def test_a_deleted_memory_leaves_its_message_hidden(desk: Client, told: Message) -> None:
    memory = told.memory
    desk.post(page(memory, "delete"), {"post": "yes"})
    assert tables_with(WORD) == {"companions.Message"}
    told.refresh_from_db()
    assert told.is_hidden
    assert deletions() == [("memory.Memory", str(memory.pk))]


@pytest.mark.parametrize("model", [Message, Memory])
def test_several_are_deleted_one_by_one(desk: Client, scene: Scene, model: type[Model]) -> None:
    pks = [str(pk) for pk in model._base_manager.values_list("pk", flat=True)]
    chosen = {"action": "delete_selected", "_selected_action": pks}
    asked = desk.post(listing(model), chosen)
    assert asked.status_code == 200
    assert MARKER not in asked.content.decode()
    desk.post(listing(model), chosen | {"post": "yes"})
    assert not model._base_manager.exists()
    assert {kind for kind, _ in deletions()} == {model._meta.label}
    assert {pk for _, pk in deletions()} <= set(pks)


def test_a_deletion_needs_its_right(client: Client, told: Message, opal: User) -> None:
    opal.groups.clear()
    client.force_login(opal)
    assert client.post(page(told, "delete"), {"post": "yes"}).status_code == 403
    assert Message.objects.filter(pk=told.pk).exists()
    assert not deletions()


def test_a_person_is_deleted_on_record(desk: Client, scene: Scene, alice: User, bob: User) -> None:
    pks = {str(alice.pk), str(bob.pk)}
    desk.post(page(bob, "delete"), {"post": "yes"})
    desk.post(listing(User), {"action": "delete_selected", "_selected_action": [alice.pk], "post": "yes"})
    assert not User.objects.filter(pk__in=pks).exists()
    assert set(deletions()) == {("accounts.User", pk) for pk in pks}
    assert tables_with(MARKER) == set()


def test_what_goes_with_a_person_is_counted_without_being_loaded(
    desk: Client, scene: Scene, alice: User
) -> None:
    with CaptureQueriesContext(connection) as queries:
        counts = desk.get(page(alice, "delete")).context["model_count"]
    assert dict(counts) == {
        "users": 1,
        "companions": 1,
        "messages": Message.everywhere.count(),
        "memories": Memory.objects.count(),
        "files": StoredFile.objects.count(),
    }
    assert not [query for query in queries if "memory_embedding" in query["sql"]]


def test_the_first_page_says_what_an_operator_did_lately(desk: Client, scene: Scene, bob: User) -> None:
    desk.post(page(bob, "delete"), {"post": "yes"})
    first = " ".join(desk.get(reverse("admin:index")).content.decode().split())
    assert 'bob@example.org <span class="kith-soft">User · Deletion ·' in first
