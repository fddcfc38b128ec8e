"""What operators see of what came of talks, and another try at a session that could not be closed, on record."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.models import Closing, Job, Session, Timer, Waking
from memory.models import Change, Consolidation, DiaryEntry, Document, Learning, Memory, Revision, Slot
from memory.store import keep_fact, retract
from safety.models import AuditEntry
from tests.admin.conftest import NOON, Scene
from tests.admin.walk import MARKER, listing, page


def again(client: Client, *rows: Closing | Consolidation) -> str:
    chosen = {"action": "again", "_selected_action": [str(row.pk) for row in rows]}
    return client.post(listing(type(rows[0])), chosen, follow=True).content.decode()


def changed() -> list[tuple[str, str]]:
    return list(AuditEntry.objects.filter(deed="changed").values_list("kind", "object_id"))


@pytest.mark.parametrize(
    ("model", "texts"),
    [
        (DiaryEntry, [f"The {MARKER}", f"We spoke of the {MARKER}.", "1 message behind it"]),
        (Revision, [f"We spoke of the {MARKER}.", f"Do you remember my {MARKER}?"]),
        (Slot, [f"The {MARKER} is grey."]),
        (Document, [MARKER]),
        (Consolidation, ["Insight", f"Alice keeps a {MARKER}.", f"Do you remember my {MARKER}?"]),
        (Change, ["Insight", f"Alice keeps a {MARKER}."]),
        (Closing, ["the answer could not be read", MARKER]),
    ],
)
def test_a_page_shows_what_is_kept(desk: Client, scene: Scene, model: type[Model], texts: list[str]) -> None:
    shown = desk.get(page(model._base_manager.get())).content.decode()
    for text in texts:
        assert text in shown, text


def test_a_session_shows_what_was_summed_up_and_noted(desk: Client, scene: Scene) -> None:
    shown = desk.get(page(scene.message.session)).content.decode()
    for heading in ("Summary", "Scratch"):
        assert heading in shown


def test_a_learning_leads_to_what_became_of_each_verdict(desk: Client, scene: Scene) -> None:
    shown = desk.get(page(Learning.objects.get())).content.decode()
    assert page(scene.fact) in shown
    assert "added" in shown


def test_a_memory_shows_its_quotes_what_it_was_drawn_from_and_what_replaced_it(
    desk: Client, scene: Scene
) -> None:
    newer = keep_fact(scene.companion.pk, "A wombat, rather.", NOON, NOON)
    newer.drawn_from.add(scene.fact)
    scene.fact.refresh_from_db()
    retract(scene.fact, NOON, replaced_by=newer)
    shown = desk.get(page(scene.fact)).content.decode()
    assert f"my {MARKER}" in shown
    assert shown.count("A wombat, rather.") == 2  # drawn from it, and in its place
    assert shown.count(page(newer)) >= 2
    back = desk.get(page(newer)).content.decode()
    assert back.count(page(scene.fact)) == 2
    assert "hidden from models" in desk.get(listing(Memory)).content.decode()


def test_what_failed_stands_on_the_first_page_and_at_the_side(desk: Client, scene: Scene) -> None:
    assert "1 session could not be closed." in desk.get(reverse("admin:index")).content.decode()
    Consolidation.objects.update(state="failed", asked_at=timezone.now())
    first = desk.get(reverse("admin:index")).content.decode()
    assert "1 night in the last week failed." in first
    for model in (Closing, Consolidation):
        assert f"{listing(model)}?state__exact=failed" in first
    Closing.objects.update(state="done")
    Consolidation.objects.update(asked_at=timezone.now() - timedelta(days=8))
    first = desk.get(reverse("admin:index")).content.decode()
    assert "could not be closed" not in first
    assert "in the last week failed" not in first


def test_an_alert_leads_to_the_rows_that_it_counts(desk: Client, scene: Scene) -> None:
    now, closing = timezone.now(), Closing.objects.get()
    long_ago = now - timedelta(days=8)
    Waking.objects.update(state="failed", due_at=now)
    Timer.objects.filter(state="active").update(state="set_aside", is_asleep=True)
    Consolidation.objects.update(state="failed", asked_at=now)
    for model, moment, day in ((Waking, "due_at", {}), (Consolidation, "asked_at", {"night_of": long_ago})):
        row = model._base_manager.get()
        row._state.adding, row.pk = True, uuid4()
        for name, value in {moment: long_ago, **day}.items():
            setattr(row, name, value)
        row.save()
    ended = Session.objects.create(
        companion=scene.companion, conversation=scene.companion.conversation, started_at=NOON, ended_at=NOON
    )
    Closing.objects.create(
        **{"companion": scene.companion, "session": ended, "state": "failed"},
        **dict.fromkeys(("until_at", "asked_at", "next_at"), NOON),
    )
    alerts = desk.get(reverse("admin:index")).context["alarms"]
    assert [alert["sentence"][:1] for alert in alerts] == ["1"] * 4
    for alert in alerts:
        assert desk.get(alert["link"]).context["cl"].result_count == 1, alert
    assert closing in desk.get(alerts[0]["link"]).context["cl"].queryset


def test_a_failed_night_is_told_until_a_later_one_makes_up_for_it(desk: Client, scene: Scene) -> None:
    now = timezone.now()
    Consolidation.objects.update(state="failed", asked_at=now)
    failed = Consolidation.objects.get()
    assert "No later night has made up for it." in desk.get(reverse("admin:index")).content.decode()
    later = Consolidation.objects.create(
        companion=scene.companion,
        night_of=failed.night_of + timedelta(days=1),
        **dict.fromkeys(("asked_at", "next_at"), now),
    )
    assert "in the last week failed" in desk.get(reverse("admin:index")).content.decode()
    Consolidation.objects.filter(pk=later.pk).update(state="done")
    assert "in the last week failed" not in desk.get(reverse("admin:index")).content.decode()
    assert failed in desk.get(listing(Consolidation), {"state__exact": "failed"}).context["cl"].queryset


def test_a_failed_night_is_tried_again_on_record_unless_a_later_one_is_under_way(
    desk: Client, scene: Scene
) -> None:
    night = Consolidation.objects.get()
    failed = {"state": "failed", "error": "provider_refused", "attempts": 8, "ended_at": NOON}
    Consolidation.objects.update(**failed)
    assert "1 night will be tried again." in again(desk, night)
    night.refresh_from_db()
    assert (night.state, night.error, night.attempts, night.ended_at) == ("waiting", "", 0, None)
    assert changed() == [("memory.Consolidation", str(night.pk))]
    assert "1 night had not failed" in again(desk, night)
    Consolidation.objects.update(**failed)
    Consolidation.objects.create(
        companion=scene.companion,
        night_of=night.night_of + timedelta(days=1),
        **dict.fromkeys(("asked_at", "next_at"), timezone.now()),
    )
    assert "1 night had not failed" in again(desk, night)
    assert len(changed()) == 1


def test_a_closing_that_failed_is_tried_again_on_record(desk: Client, scene: Scene) -> None:
    closing = Closing.objects.get()
    closing.job = Job.objects.create(companion=scene.companion, kind="close", total=1, error="x")
    closing.save()
    assert "1 closing will be tried again." in again(desk, closing)
    closing.refresh_from_db()
    assert (closing.state, closing.error, closing.attempts, closing.ended_at) == ("waiting", "", 0, None)
    assert Job.objects.get(pk=closing.job_id).error == ""
    assert changed() == [("companions.Closing", str(closing.pk))]
    assert "1 closing had not failed" in again(desk, closing)
    assert len(changed()) == 1


def test_a_closing_of_a_session_that_has_ended_or_that_another_closes_is_left(
    desk: Client, scene: Scene
) -> None:
    closing = Closing.objects.get()
    other = Closing.objects.create(
        companion=scene.companion, session=closing.session, until_at=NOON, asked_at=NOON, next_at=NOON
    )
    assert "could not be closed" not in desk.get(reverse("admin:index")).content.decode()
    again(desk, closing)
    other.delete()
    Session.objects.update(ended_at=NOON)
    again(desk, closing)
    closing.refresh_from_db()
    assert closing.state == "failed"
    assert changed() == []


def test_operators_by_their_group_try_nothing_again(client: Client, scene: Scene, opal: User) -> None:
    client.force_login(opal)
    assert client.get(listing(Closing)).status_code == 200
    again(client, Closing.objects.get())
    assert Closing.objects.get().state == "failed"
    opal.user_permissions.set(Permission.objects.filter(codename="change_closing"))
    again(client, Closing.objects.get())
    assert Closing.objects.get().state == "waiting"


@pytest.mark.parametrize(("model", "queries"), [(Slot, 6), (Closing, 7), (DiaryEntry, 6)])
def test_a_list_costs_the_same_for_few_and_for_many(
    desk: Client,
    scene: Scene,
    model: type[Model],
    queries: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    desk.get(listing(model))  # what a process asks once
    for first in (0, 9):
        # session, user, count, rows, what failed, the record; and the errors to choose from
        with django_assert_num_queries(queries):
            desk.get(listing(model))
        for number in range(first, first + 9):
            more(scene, model, number)


def more(scene: Scene, model: type[Model], number: int) -> None:
    companion = scene.companion
    if model is Slot:
        Slot.objects.create(companion=companion, name=str(number), text="x", by="user", changed_at=NOON)
        return
    session = Session.objects.create(
        companion=companion, conversation=companion.conversation, started_at=NOON, ended_at=NOON
    )
    times = {"until_at": NOON, "asked_at": NOON, "next_at": NOON}
    if model is DiaryEntry:
        times = {"started_at": NOON, "ended_at": NOON, "made_at": NOON}
    model._base_manager.create(companion=companion, session=session, **times)
