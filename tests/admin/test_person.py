"""A person's page opens with companions by name, failures in words, answers with their why, and use by day."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from accounts.models import ModelCall, User
from companions.creation import create
from companions.events import describe_failure
from companions.models import Job, Message, Reply
from safety.models import AuditEntry
from tests.admin.conftest import NOON, Scene, ask
from tests.admin.walk import listing, page


def test_it_names_companions_failures_and_whys(desk: Client, olive: User, alice: User, scene: Scene) -> None:
    failed = Reply.objects.create(
        companion=scene.companion,
        message=scene.message,
        state="failed",
        code="provider_timeout",
        created_at=NOON,
    )
    shown = desk.get(page(alice)).content.decode()
    assert f'<a href="{page(scene.companion)}">{scene.companion.name}</a>' in shown
    assert escape(describe_failure("provider_timeout")) in shown
    assert shown.count(page(failed)) == 2  # what failed, and why
    assert page(scene.reply) in shown
    assert shown.index(scene.companion.name) < shown.index('name="time_zone"')
    entry = AuditEntry.objects.get()
    assert (entry.operator, entry.deed, entry.kind, entry.owner) == (olive, "opened", "accounts.User", alice)


def test_use_is_counted_by_day_without_what_was_imported(desk: Client, alice: User, scene: Scene) -> None:
    now = timezone.now()
    Message.everywhere.all().update(created_at=now - timedelta(days=30))
    ModelCall.objects.all().update(started_at=now - timedelta(days=30))
    job = Job.objects.create(companion=scene.companion, kind=Job.Kind.IMPORT_LOG)
    earlier, imported, _today = (ask(scene.companion, text, NOON) for text in ("a", "b", "c"))
    Message.objects.filter(pk=earlier.pk).update(created_at=now - timedelta(days=2))
    Message.objects.filter(pk=imported.pk).update(job=job)
    ModelCall.objects.create(
        user=alice, started_at=now, purpose="answer", model="m", prompt_tokens=30, completion_tokens=4
    )
    days = desk.get(page(alice)).context["days"]
    assert [(day.messages, day.tokens) for day in days] == [(1, 34), (0, 0), (1, 0), *[(0, 0)] * 11]


def test_a_persons_page_asks_as_often_for_many_as_for_few(
    desk: Client, alice: User, scene: Scene, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(6):
        companion = create(alice, name=f"Companion {number}", persona="", greeting="", tint=40, now=NOON)
        message = ask(companion, "Hello?", NOON)
        for state in ("done", "failed"):
            Reply.objects.create(companion=companion, message=message, state=state, created_at=NOON)
    desk.get(page(alice))
    with django_assert_max_num_queries(24):
        desk.get(page(alice))


@pytest.mark.parametrize(
    ("rights", "sees"),
    [
        ([], set()),
        (["view_companion"], {"companions"}),
        (["view_companion", "view_reply"], {"companions", "replies", "failures"}),
        (["view_companion", "view_message", "view_modelcall"], {"companions", "days"}),
    ],
)
def test_it_shows_what_its_reader_may_see(
    client: Client, alice: User, opal: User, scene: Scene, rights: list[str], sees: set[str]
) -> None:
    opal.groups.clear()
    opal.user_permissions.set(Permission.objects.filter(codename__in=["view_user", *rights]))
    client.force_login(opal)
    response = client.get(page(alice))
    parts = {"companions", "replies", "failures", "days"}
    assert {part for part in parts if part in response.context} == sees
    assert (scene.companion.name in response.content.decode()) == bool(sees)
    assert AuditEntry.objects.exists() == bool(sees)


def test_it_leads_to_the_record_of_who_looked(desk: Client, scene: Scene, alice: User) -> None:
    link = f"{listing(AuditEntry)}?owner__id__exact={alice.pk}"
    assert link in desk.get(page(alice)).content.decode()
    desk.get(page(scene.message))
    entries = desk.get(link).context["cl"].queryset
    assert {entry.kind for entry in entries} == {"accounts.User", "companions.Message"}


def test_an_operator_who_may_not_close_accounts_is_told_who_may(
    client: Client, opal: User, olive: User, alice: User
) -> None:
    client.force_login(opal)
    assert "You cannot change or close this account." in client.get(page(alice)).content.decode()
    client.force_login(olive)
    assert "You cannot change or close this account." not in client.get(page(alice)).content.decode()
