"""Who comes in, by which door, and under which content policy."""

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.models import ModelCall, Token, User
from accounts.signup import OPERATORS
from companions.models import Companion, Message
from memory.models import Memory, Recall
from safety.models import AuditEntry
from tests.admin.conftest import Scene
from tests.admin.walk import ALL, listing, name_of, page
from tests.fixtures.people import sign_in

every = pytest.mark.parametrize("model", ALL, ids=name_of)


@every
def test_nobody_is_sent_to_the_one_log_in(client: Client, scene: Scene, model: type) -> None:
    response = client.get(listing(model), follow=True)
    assert [status for _, status in response.redirect_chain] == [302, 302]
    last = response.redirect_chain[-1][0]
    assert last.startswith(f"{reverse('account_login')}?")
    assert "next=" in last


@every
def test_mallory_is_refused(client: Client, scene: Scene, mallory: User, model: type) -> None:
    sign_in(client, mallory)
    response = client.get(listing(model), follow=True)
    assert response.status_code == 403


def test_the_owner_herself_is_no_operator(client: Client, scene: Scene, alice: User) -> None:
    sign_in(client, alice)
    assert client.get(page(scene.message), follow=True).status_code == 403
    assert client.get(reverse("admin:index"), follow=True).status_code == 403


def test_staff_are_operators_by_their_group(client: Client, scene: Scene, opal: User) -> None:
    sign_in(client, opal)
    for thing in (scene.message, scene.reply, scene.fact, scene.companion, scene.call, scene.recall, opal):
        assert client.get(page(thing)).status_code == 200
    assert client.get(page(scene.message, "delete")).status_code == 200
    assert client.get(page(scene.fact, "delete")).status_code == 200
    assert client.post(page(opal), {"is_superuser": "on"}).status_code == 403
    assert client.get(page(opal, "delete")).status_code == 403


def test_staff_without_rights_see_nothing(client: Client, scene: Scene, opal: User) -> None:
    opal.groups.clear()
    sign_in(client, opal)
    assert client.get(reverse("admin:index")).status_code == 200
    for model in (Message, Memory, Companion, Recall, ModelCall, Token, User, AuditEntry):
        assert client.get(listing(model)).status_code == 403
    assert client.get(page(scene.message)).status_code == 403
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
def test_the_group_has_its_rights_again_after_a_migration() -> None:
    Group.objects.all().delete()
    call_command("migrate", verbosity=0)
    rights = set(Group.objects.get(name=OPERATORS).permissions.values_list("codename", flat=True))
    assert {"view_message", "view_reply", "view_memory", "view_user", "view_auditentry"} < rights
    assert {"delete_message", "delete_memory", "decide_galleryversion"} == {
        right for right in rights if not right.startswith("view_")
    }


def test_the_admin_has_a_policy_of_its_own(desk: Client, scene: Scene) -> None:
    for address in (reverse("admin:index"), page(scene.reply), listing(Message)):
        policy = desk.get(address).headers["Content-Security-Policy"]
        assert "'unsafe-eval'" in policy
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy


def test_every_other_page_keeps_the_strict_policy(desk: Client, client: Client, scene: Scene) -> None:
    for address in (reverse("healthz"), reverse("account_login")):
        policy = Client().get(address).headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'self'" in policy
