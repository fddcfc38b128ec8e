"""Whoever opens what people said leaves an entry; lists hold no words and cannot be asked for them."""

from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import DatabaseError, connection
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import ModelCall, User
from companions.models import (
    Bookmark,
    Companion,
    GalleryVersion,
    Message,
    MessageWords,
    Prompt,
    ReportedVersion,
    Waking,
)
from memory.models import Memory
from memory.store import keep_fact
from safety.admin.reason import GOOD_FOR, IN_SESSION
from safety.models import AuditEntry, AuditKey, Notice
from tests.admin.conftest import NOON, Scene, answer, ask
from tests.admin.walk import ALL, MARKER, OPEN, PRIVATE, holds_words, listing, name_of, page

ROOMS = {"accounts", "files", "safety", "memory", "companions", "voice", "push"}
every_open = pytest.mark.parametrize("model", OPEN, ids=name_of)


def test_every_model_has_its_pages() -> None:
    ours = {model for model in apps.get_models() if model._meta.app_label in ROOMS}
    # Of keys, and of words as numbers, there is nothing to be seen; a copy of what was reported is seen with its report.
    assert ours - {AuditKey, MessageWords, ReportedVersion} <= set(ALL)


def test_every_model_of_a_companion_is_private() -> None:
    below = {model for model in ALL if any(field.name == "companion" for field in model._meta.fields)}
    assert below | {Companion} <= set(PRIVATE)


def test_a_private_model_says_how_it_is_searched() -> None:
    for model in PRIVATE:
        assert admin.site._registry[model].search_fields == ("pk",)


def test_private_lists_hold_no_words_and_are_on_record(
    desk: Client, scene: Scene, olive: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """They ask as often for many rows as for few."""
    for n in range(6):
        message = ask(scene.companion, f"{MARKER} {n}", NOON)
        fact = keep_fact(scene.companion.pk, f"{MARKER} {n}", NOON, NOON, source_ids=[message.pk])
        answer(scene.companion, message, fact)
    ContentType.objects.get_for_models(*ALL)  # what a process asks once
    for model in PRIVATE:
        with django_assert_max_num_queries(12, info=name_of(model)):
            response = desk.get(listing(model))
        assert response.status_code == 200, model
        assert str(response.context["cl"].result_count) != "0", model
        assert MARKER not in response.content.decode(), model
        entry = AuditEntry.objects.latest("pk")
        assert (entry.operator, entry.deed, entry.kind) == (olive, "listed", model._meta.label)
        assert entry.object_id == ""
    assert AuditEntry.objects.count() == len(PRIVATE)


def test_the_list_of_notices_does_not_tell_who_was_shown_help_lines(desk: Client, alice: User) -> None:
    crisis = Notice.objects.create(user=alice, kind=Notice.Kind.CRISIS, made_at=NOON)
    listed = desk.get(listing(Notice), {"kind__exact": "crisis"})
    assert str(crisis.pk) in listed.content.decode()
    assert alice.email not in listed.content.decode()
    assert alice.email in desk.get(page(crisis)).content.decode()
    assert AuditEntry.objects.latest("pk").owner == alice


@pytest.mark.parametrize("deed", ["change", "history"])
def test_private_pages_say_so_and_are_on_record(
    desk: Client, scene: Scene, olive: User, alice: User, deed: str
) -> None:
    for model in PRIVATE:
        thing = model._base_manager.first()
        response = desk.get(page(thing, deed))
        assert response.status_code == 200, model
        if deed == "change":
            says = "Private to alice@example.org. It has been recorded that you opened this page."
            assert says in response.content.decode(), model
        entry = AuditEntry.objects.latest("pk")
        assert (entry.operator, entry.deed, entry.kind) == (olive, "opened", model._meta.label)
        assert (entry.object_id, entry.owner) == (str(thing.pk), alice)
    assert AuditEntry.objects.count() == len(PRIVATE)


def test_a_reason_is_asked_for_before_a_persons_things_open_and_is_on_record_for_an_hour(
    scene: Scene, olive: User, alice: User, bob: User
) -> None:
    desk = Client()
    desk.force_login(olive)
    opened, others = page(scene.message), [page(scene.fact), page(scene.reply, "history")]
    for asked in (
        desk.get(opened),
        desk.post(opened, {"reason_to_open": " "}),
        desk.get(page(scene.reply, "delete")),
    ):
        assert (asked.status_code, "private" in asked["Cache-Control"]) == (200, True)
        assert MARKER not in asked.content.decode()
        assert "'unsafe-eval'" in asked.headers["Content-Security-Policy"]  # or the theme does not work
        assert "This is private to alice@example.org." in asked.content.decode()
    assert not AuditEntry.objects.exists()
    assert desk.post(opened, {"reason_to_open": "Her answer failed."}).headers["Location"] == opened
    for path in (opened, *others):
        assert "reason_to_open" not in desk.get(path).content.decode()
    entries = AuditEntry.objects.filter(owner=alice)
    assert list(entries.values_list("reason", flat=True)) == ["Her answer failed."] * 3
    assert "Her answer failed." in desk.get(listing(AuditEntry)).content.decode()
    # Not for anybody else's, nor for longer.
    bobs = Companion.objects.create(user=bob, name="Bo")
    assert "This is private to bob@example.org." in desk.get(page(bobs)).content.decode()
    desk.post(page(bobs), {"reason_to_open": "He cannot sign in."})
    assert "reason_to_open" not in desk.get(opened).content.decode()
    session = desk.session
    assert session[IN_SESSION][str(alice.pk)]["until"] <= (timezone.now() + GOOD_FOR).timestamp()
    session[IN_SESSION] = {
        str(alice.pk): {"reason": "Her answer failed.", "until": timezone.now().timestamp()}
    }
    session.save()
    assert "reason_to_open" in desk.get(opened).content.decode()


@pytest.mark.parametrize("is_across", [False, True])
def test_a_reason_is_asked_for_once_before_an_action_on_several_peoples_things(
    scene: Scene, olive: User, bob: User, is_across: bool
) -> None:
    bobs = Companion.objects.create(user=bob, name="Bo")
    Waking.objects.create(companion=bobs, origin="timer", state="failed", due_at=NOON, created_at=NOON)
    desk = Client()
    desk.force_login(olive)
    pks = [str(pk) for pk in Waking.objects.values_list("pk", flat=True)]
    chosen = {"action": ["again", ""], "index": "0", "_selected_action": pks}
    if is_across:
        chosen |= {"select_across": "1", "_selected_action": pks[:1]}
    asked = desk.post(listing(Waking), chosen)
    assert "This is private to alice@example.org, bob@example.org." in asked.content.decode()
    assert not Waking.objects.exclude(state="failed").exists()
    given = urlencode([*asked.context["chosen"], ("reason_to_open", "The model was down.")])
    desk.post(listing(Waking), given, content_type="application/x-www-form-urlencoded")
    assert not Waking.objects.filter(state="failed").exists()
    entries = AuditEntry.objects.filter(deed="changed").order_by("owner__email")
    assert list(entries.values_list("owner__email", "reason")) == [
        ("alice@example.org", "The model was down."),
        ("bob@example.org", "The model was down."),
    ]


def test_no_reason_is_asked_for_ones_own_things_and_what_was_sent_in_to_be_read(
    scene: Scene, alice: User, olive: User
) -> None:
    desk = Client()
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    desk.force_login(alice)
    assert MARKER in desk.get(page(scene.message)).content.decode()
    desk.force_login(olive)
    assert MARKER in desk.get(page(GalleryVersion.objects.get())).content.decode()


@every_open
def test_other_pages_hold_no_words_and_are_not_on_record(
    desk: Client, scene: Scene, model: type[Model], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    ContentType.objects.get_for_models(*ALL)  # what a process asks once
    with django_assert_max_num_queries(12):
        shown = desk.get(listing(model))
    assert shown.status_code == 200
    assert MARKER not in shown.content.decode()
    thing = model._base_manager.first()
    if thing is not None and model is not User:  # a person's page names their companions: test_person.py
        shown = desk.get(page(thing))
        assert shown.status_code == 200
        assert MARKER not in shown.content.decode()
    assert not AuditEntry.objects.exists()


def test_the_record_itself_can_be_read(desk: Client, scene: Scene) -> None:
    desk.get(page(scene.message))
    entry = AuditEntry.objects.get()
    assert "companions.Message" in desk.get(listing(AuditEntry)).content.decode()
    assert str(scene.message.pk) in desk.get(page(entry)).content.decode()
    assert desk.post(page(entry), {"reason": "none"}).status_code == 403
    assert desk.post(page(entry, "delete"), {"post": "yes"}).status_code == 403
    assert AuditEntry.objects.get() == entry


def test_words_in_an_address_find_nothing(desk: Client, scene: Scene) -> None:
    for model in PRIVATE:
        for field in model._meta.concrete_fields:
            if holds_words(field) and field.name not in admin.site._registry[model].list_filter:
                response = desk.get(listing(model), {f"{field.name}__icontains": MARKER})
                assert response.status_code == 400, (model, field)
    for path in ("message__text__icontains", "companion__persona__icontains", "memory__text__icontains"):
        assert desk.get(listing(Message), {path: MARKER}).status_code == 400


def test_a_search_is_for_ids_and_addresses(rf: RequestFactory, olive: User, scene: Scene) -> None:
    def found(model: type[Model], term: object) -> int:
        request = rf.get(listing(model), {"q": str(term)})
        request.user = olive
        return int(admin.site._registry[model].get_changelist_instance(request).result_count)

    for model in PRIVATE:
        assert found(model, MARKER) == 0, model
        assert found(model, model._base_manager.first().pk) >= 1, model
        assert found(model, "ALICE@") == model._base_manager.count(), model
        assert found(model, "bob@") == 0, model
    assert found(Message, scene.companion.pk) == Message.objects.count()
    assert found(Message, uuid4()) == 0


def test_a_companions_list_can_be_reached_from_its_page(desk: Client, scene: Scene, alice: User) -> None:
    assert (
        f"{listing(Message)}?companion__id__exact={scene.companion.pk}"
        in desk.get(page(scene.companion)).content.decode()
    )
    response = desk.get(listing(Message), {"companion__id__exact": scene.companion.pk})
    assert response.context["cl"].result_count == Message.objects.count()
    assert AuditEntry.objects.get(deed="listed").owner == alice
    response = desk.get(listing(Message), {"companion__id__exact": uuid4()})
    assert response.context["cl"].result_count == 0


def test_what_is_not_shown_leaves_no_entry(client: Client, desk: Client, scene: Scene, mallory: User) -> None:
    assert desk.get(page(Message(pk=uuid4()))).status_code == 302
    client.force_login(mallory)
    assert client.get(page(scene.message)).status_code == 302
    assert not AuditEntry.objects.exists()


def test_lists_name_things_for_those_who_may_see_them(
    client: Client, scene: Scene, opal: User, alice: User
) -> None:
    opal.groups.clear()
    rights = Permission.objects.filter(codename__in=["view_bookmark"])
    opal.user_permissions.set(rights)
    client.force_login(opal)
    shown = client.get(listing(Bookmark)).content.decode()
    assert scene.companion.name not in shown
    assert str(scene.companion.pk)[:8] in shown
    more = Permission.objects.filter(codename__in=["view_companion", "view_message", "view_user"])
    opal.user_permissions.add(*more)
    shown = client.get(listing(Bookmark)).content.decode()
    assert f">{scene.companion.name}</a>" in shown
    assert f">{alice.email}</a>" in shown
    assert f">{NOON:%Y-%m-%d} " in shown  # when the message was said
    assert str(scene.companion.pk)[:8] not in shown.replace(page(scene.companion), "")


def test_without_the_entry_nothing_is_shown(desk: Client, scene: Scene) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE safety_auditentry ADD CONSTRAINT closed CHECK (false)")
    with pytest.raises(DatabaseError):
        desk.get(page(scene.message))


def test_private_things_cannot_be_chosen_elsewhere(desk: Client, scene: Scene) -> None:
    asked = {"app_label": "companions", "model_name": "reply", "field_name": "message", "term": ""}
    assert desk.get(reverse("admin:autocomplete"), asked).status_code == 403
    assert desk.get(listing(Message), {"_to_field": "id"}).status_code == 400


def test_the_search_over_everything_finds_no_words(desk: Client, scene: Scene) -> None:
    response = desk.get(reverse("admin:search"), {"s": MARKER})
    assert response.status_code == 200
    assert str(scene.message.pk) not in response.content.decode()


def test_private_things_are_read_only(desk: Client, scene: Scene) -> None:
    for model in PRIVATE:
        assert (
            desk.get(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_add")).status_code
            == 403
        )
        assert desk.post(page(model._base_manager.first()), {"text": "x", "name": "x"}).status_code == 403
        if model not in (Message, Memory):
            assert desk.get(page(model._base_manager.first(), "delete")).status_code == 403


def test_deleting_a_person_lists_none_of_their_words(desk: Client, scene: Scene, alice: User) -> None:
    assert MARKER not in desk.get(page(alice, "delete")).content.decode()
    chosen = {"action": "delete_selected", "_selected_action": [alice.pk]}
    assert MARKER not in desk.post(listing(User), chosen).content.decode()


def test_lists_show_no_column_of_words() -> None:
    for model in PRIVATE:
        model_admin = admin.site._registry[model]
        fields = {field.name: field for field in model._meta.fields}
        shown = [fields[name] for name in model_admin.list_display if name in fields]
        wordy = [
            field.name for field in shown if holds_words(field) and field.name not in model_admin.list_filter
        ]
        assert wordy == [], model
    assert {ModelCall, Prompt} <= set(PRIVATE)
