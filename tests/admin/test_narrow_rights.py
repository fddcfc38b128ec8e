"""Operators with few rights: no link leads them to a page that they may not open."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from accounts.models import Token, User
from companions.models import (
    Companion,
    GalleryCharacter,
    GalleryReport,
    GalleryVersion,
    JournalEntry,
    Message,
    Reply,
    Timer,
    Waking,
)
from memory.models import Consolidation, Document, Memory
from safety.audit import record
from safety.models import AuditEntry
from tests.admin.conftest import Scene
from tests.admin.walk import PRIVATE, listing, page

SEEN = (Message, Memory, Reply, Companion, Timer, Waking, JournalEntry)
LEADING = (GalleryCharacter, GalleryReport, GalleryVersion, Consolidation, Document, EmailAddress, Token)
LINK = re.compile(r'href="(/admin/[a-z]+/[a-z]+/(?:[0-9a-f-]+/change/)?)[?"]')


def grant(opal: User, *rights: str) -> None:
    opal.groups.clear()
    opal.user_permissions.set(Permission.objects.filter(codename__in=rights))


def open_links(client: Client, *addresses: str) -> None:
    for address in addresses:
        shown = client.get(address).content.decode()
        assert "alice@example.org" in shown or address == reverse("admin:index")
        for link in set(LINK.findall(shown)):
            assert client.get(link).status_code == 200, (address, link)


@pytest.mark.parametrize("model", [*SEEN, *LEADING])
def test_every_link_of_a_list_and_a_page_opens(
    client: Client, scene: Scene, opal: User, model: type[Message]
) -> None:
    grant(opal, f"view_{model._meta.model_name}")
    GalleryVersion.objects.update(decided_by=opal)
    client.force_login(opal)
    rows = model._base_manager.all()
    rows = rows.filter(user__email="alice@example.org") if model in {EmailAddress, Token} else rows
    open_links(client, reverse("admin:index"), listing(model), *map(page, rows))


def test_every_link_of_the_audit_trail_opens(client: Client, scene: Scene, opal: User, alice: User) -> None:
    grant(opal, "view_auditentry")
    record(opal, AuditEntry.Deed.OPENED, Message, scene.message.pk, alice.pk)
    client.force_login(opal)
    open_links(client, listing(AuditEntry), page(AuditEntry.objects.get()))


def test_a_companions_page_leads_to_the_tables_that_one_may_see(
    client: Client, scene: Scene, opal: User
) -> None:
    grant(opal, "view_companion", "view_message")
    client.force_login(opal)
    below = client.get(page(scene.companion)).context["below"]
    assert [part["link"] for part in below] == [listing(Message)]


def test_rights_are_called_as_the_sidebar_calls_their_tables(desk: Client) -> None:
    User.objects.filter(is_staff=True).update(is_superuser=True)
    shown = desk.get(reverse("admin:auth_group_add")).content.decode()
    for right in ("Ends of sessions: view", "Can set the password of a user"):
        assert f">{right}</option>" in shown


def test_whoever_may_see_all_finds_links_everywhere(desk: Client, scene: Scene, alice: User) -> None:
    person = reverse("admin:accounts_user_change", args=[alice.pk])
    for model in PRIVATE:
        if "owner" in admin.site._registry[model].list_display:
            assert person in desk.get(listing(model)).content.decode(), model
