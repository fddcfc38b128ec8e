"""What an address of the admin may ask: no field of words, of no model, by no look-up, however deep."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db import connection, models, transaction
from django.db.models import Model
from django.db.utils import IntegrityError
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.models import User
from memory.models import Memory
from safety.audit import read_search
from safety.models import AuditEntry
from tests.admin.conftest import Scene
from tests.admin.walk import ALL, holds_words, listing, name_of, page
from tests.fixtures.people import sign_in

DEEP = 2
EXACT = {"exact", "in", "isnull"}


def asked(model: type[Model], path: str = "", hops: int = DEEP) -> Iterator[tuple[str, models.Field]]:  # type: ignore[type-arg]
    """Each look-up of each field, through relations both ways."""
    for field in model._meta.get_fields(include_hidden=True):
        if field.is_relation and field.related_model and hops:
            if field.name != "+" and not field.name.endswith("+"):
                yield f"{path}{field.name}__isnull", field  # type: ignore[misc]
                yield from asked(field.related_model, f"{path}{field.name}__", hops - 1)  # type: ignore[arg-type]
        elif field.concrete:
            yield from ((f"{path}{field.name}__{lookup}", field) for lookup in field.get_lookups())


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_no_look_up_tells_words(model: type[Model]) -> None:
    page = admin.site._registry[model]
    filters = {one[0] if isinstance(one, tuple) else one for one in page.list_filter}
    allowed = {path: field for path, field in asked(model) if page.lookup_allowed(path, "x", None)}  # type: ignore[arg-type]
    for path, field in allowed.items():
        name, *rest = path.split("__")
        own = model._meta.get_field(name)
        assert own.concrete, f"{path} goes backwards"
        assert own == field or field.primary_key, f"{path} asks more of another's than its id"
        if holds_words(own):
            assert name in filters, path
            assert set(rest) <= EXACT, path
    assert allowed, "the plain fields can be asked"


def test_who_remembers_a_word_is_not_told(client: Client, scene: Scene, opal: User) -> None:
    sign_in(client, opal)
    response = client.get(f"{listing(Memory)}?entry__contains=00", follow=True)
    assert response.redirect_chain or response.status_code == 400
    assert client.get(f"{listing(Memory)}?is_pinned__exact=0").status_code == 200


def test_only_a_part_of_a_list_offers_to_show_all(desk: Client, scene: Scene) -> None:
    for narrowed in ("", "?kind__exact=fact", "?q=alice", f"?companion__id__exact={scene.companion.pk}"):
        assert ("Show all" in desk.get(listing(Memory) + narrowed).content.decode()) == bool(narrowed)


@pytest.mark.parametrize("id", ["x", "", "a\x00b", "9" * 5_000])
@pytest.mark.parametrize("model", [Memory, User])
def test_an_action_on_what_is_no_id_is_refused(
    client: Client, scene: Scene, opal: User, model: type[Model], id: str
) -> None:
    User.objects.filter(pk=opal.pk).update(is_superuser=True)
    sign_in(client, opal)
    selected = {"action": "delete_selected", "_selected_action": id, "index": 0, "select_across": 0}
    assert client.post(listing(model), selected).status_code == 400


def test_a_filter_that_no_database_takes_is_refused(client: Client, scene: Scene, opal: User) -> None:
    sign_in(client, opal)
    assert client.get(listing(Memory), {"kind__exact": "a\x00b"}).status_code == 400


def test_staff_without_rights_see_no_numbers(client: Client, scene: Scene, opal: User) -> None:
    opal.groups.clear()
    sign_in(client, opal)
    context = client.get(reverse("admin:index")).context
    assert (context["numbers"], context["replies"], context["alarms"]) == ([], [], [])
    opal.user_permissions.add(Permission.objects.get(codename="view_user"))
    assert [one.number for one in client.get(reverse("admin:index")).context["numbers"]] == [
        User.objects.count()
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE safety_auditentry SET reason = 'nothing'",
        "UPDATE safety_auditentry SET owner_id = operator_id",
        "UPDATE safety_auditentry SET owner_id = NULL, reason = 'nothing'",
        "DELETE FROM safety_auditentry",
    ],
)
def test_the_audit_is_kept_by_the_database_itself(
    scene: Scene, opal: User, alice: User, statement: str
) -> None:
    AuditEntry.objects.create(operator=opal, deed=AuditEntry.Deed.OPENED, kind="memory.Memory", owner=alice)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    entry = AuditEntry.objects.get()
    assert (entry.reason, entry.owner) == ("", alice)


def test_an_account_goes_and_the_audit_stays(scene: Scene, opal: User, mallory: User) -> None:
    AuditEntry.objects.create(operator=opal, deed=AuditEntry.Deed.OPENED, kind="memory.Memory", owner=mallory)
    mallory.delete()
    assert AuditEntry.objects.get().owner is None


def test_a_search_is_on_record_with_whose_things_it_found_and_goes_with_the_account(
    client: Client, scene: Scene, opal: User, alice: User
) -> None:
    sign_in(client, opal)
    client.get(listing(Memory), {"q": "alice@example", "kind__exact": scene.fact.kind})
    entry = AuditEntry.objects.get()
    assert (entry.deed, entry.kind, entry.owner, entry.operator) == ("listed", "memory.Memory", alice, opal)
    assert entry.asked
    assert b"alice" not in bytes(entry.asked)
    assert read_search(entry) == f"q=alice@example\nkind__exact={scene.fact.kind}"
    sign_in(client, User.objects.create_superuser("root@example.org", "x"))
    assert "q=alice@example" in client.get(page(entry)).content.decode()
    alice.delete()
    entry.refresh_from_db()
    assert entry.owner is None
    assert read_search(entry) == "No longer readable: the account is gone."


def test_a_search_that_finds_nothing_is_on_record_too(client: Client, scene: Scene, opal: User) -> None:
    sign_in(client, opal)
    client.get(listing(Memory), {"q": "nobody@example.org"})
    entry = AuditEntry.objects.get()
    assert (entry.owner, read_search(entry)) == (None, "q=nobody@example.org")


def test_a_search_does_not_hide_behind_a_long_parameter(client: Client, scene: Scene, opal: User) -> None:
    sign_in(client, opal)
    asked = {"_popup": "x" * 4_000, "q": "nobody@example.org"}
    assert client.get(listing(Memory), asked).status_code == 200
    assert str(read_search(AuditEntry.objects.latest("pk"))).endswith("\nq=nobody@example.org")


def test_what_could_not_be_recorded_whole_is_refused(client: Client, scene: Scene, opal: User) -> None:
    sign_in(client, opal)
    assert client.get(listing(Memory), {"q": " " * 8_000 + "nobody@example.org"}).status_code == 400
    assert not AuditEntry.objects.exists()


def test_each_value_of_a_filter_is_on_record(client: Client, scene: Scene, opal: User) -> None:
    sign_in(client, opal)
    assert client.get(listing(Memory), {"kind__exact": [scene.fact.kind, ""]}).status_code == 200
    assert read_search(AuditEntry.objects.latest("pk")) == f"kind__exact={scene.fact.kind}"


def test_a_look_at_a_list_and_at_its_second_page_asks_for_nothing(
    client: Client, scene: Scene, opal: User
) -> None:
    sign_in(client, opal)
    client.get(listing(Memory), {"o": "1"})
    entry = AuditEntry.objects.get()
    assert (entry.asked, read_search(entry)) == (None, "–")


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_a_list_can_be_sorted_by_all_of_its_columns(
    model: type[Model], rf: RequestFactory, olive: User
) -> None:
    request = rf.get("/", {"o": ".".join(map(str, range(1, 20)))})
    request.user = olive
    list(admin.site._registry[model].get_changelist_instance(request).get_queryset(request)[:1])
