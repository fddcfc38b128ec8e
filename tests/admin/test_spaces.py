"""What operators see of embedding spaces, and what they may do with them, on record."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from accounts.models import User
from companions.models import Companion
from memory.admin.spaces import alarms
from memory.embedding import embed_cue
from memory.embedding.spaces import clear_cache, count_served
from memory.models import Embedding, Space
from safety.models import AuditEntry
from tests.admin.walk import listing, page
from tests.fixtures.embedding import embed_all
from tests.memory.conftest import DAY, EmbeddingServer, Say, embedding_server, say

__all__ = ["embedding_server", "say"]

BUILT_IN = {"base_url": "", "api_key": "", "model": ""}


@pytest.fixture
def old(mira: Companion, say: Say, embedding_server: EmbeddingServer, settings: Any) -> Space:
    """The built-in space, in which three memories lie; the server's, wanted since, has none yet."""
    wanted, settings.EMBEDDING = settings.EMBEDDING, BUILT_IN
    say(mira, "Tea.", "Milk.", "Walk.", at=DAY)
    embed_all()
    settings.EMBEDDING = wanted
    clear_cache()
    return Space.objects.get()


def deeds() -> list[tuple[str, str, str]]:
    return list(AuditEntry.objects.order_by("pk").values_list("deed", "kind", "object_id"))


def test_the_list_tells_how_far_each_space_is_and_which_is_wanted(desk: Client, old: Space) -> None:
    embed_all(2)
    shown = desk.get(listing(Space)).content.decode()
    assert "3 of 3 memories" in shown
    assert "2 of 3 memories" in shown
    assert shown.index("wanted") < shown.index("2 of 3") < shown.index("serving") < shown.index("3 of 3")
    assert desk.get(page(old)).status_code == 200


def test_the_wanted_and_the_serving_space_cannot_be_removed(desk: Client, old: Space) -> None:
    embed_all(2)
    for space in Space.objects.all():
        assert desk.post(page(space, "delete"), {"post": "yes"}).status_code == 403
    assert Space.objects.count() == 2
    assert deeds() == []


def test_a_space_that_serves_nobody_is_removed_with_its_vectors_on_record(desk: Client, old: Space) -> None:
    embed_all()
    asked = desk.get(page(old, "delete")).content.decode()
    assert "3" in asked
    assert desk.post(page(old, "delete"), {"post": "yes"}).status_code == 302
    assert not Space.objects.filter(pk=old.pk).exists()
    assert Embedding.objects.count() == 3
    assert deeds() == [("deleted", "memory.Space", str(old.pk))]


def again(space: Space) -> str:
    return reverse("admin:memory_space_embed_again", args=[space.pk])


def test_embedding_again_asks_first_and_then_begins_another_edition(desk: Client, old: Space) -> None:
    embed_all()
    wanted = Space.objects.get(width=4)
    assert again(wanted) in desk.get(page(wanted)).content.decode()
    assert "Every memory" in desk.get(again(wanted)).content.decode()
    assert Space.objects.count() == 2
    assert desk.post(again(wanted)).status_code == 302
    assert desk.post(again(wanted)).status_code == 403  # it is no longer the wanted one
    made = Space.objects.get(edition=2)
    assert (made.model, made.width) == (wanted.model, 4)
    assert deeds() == [("changed", "memory.Space", str(made.pk))]
    assert count_served() == {wanted.pk: 1}
    embed_all()
    assert count_served() == {made.pk: 1}


def test_embedding_again_takes_the_width_that_the_server_has_now(
    desk: Client,
    old: Space,
    embedding_server: EmbeddingServer,
) -> None:
    embed_all()
    wanted = Space.objects.get(width=4)
    embedding_server.width = 6
    assert embed_cue("tea") is None
    assert [alarm["link"] for alarm in alarms()] == [page(wanted)]
    desk.post(again(wanted))
    assert embed_all() == 3
    assert Space.objects.get(edition=2).width == 6
    assert alarms() == []
    assert count_served() == {Space.objects.get(edition=2).pk: 1}


def test_a_server_that_is_down_is_told_and_nothing_begins(
    desk: Client,
    old: Space,
    embedding_server: EmbeddingServer,
) -> None:
    embed_all()
    wanted = Space.objects.get(width=4)
    embedding_server.shutdown()
    embedding_server.server_close()
    response = desk.post(again(wanted), follow=True)
    assert [message.level_tag for message in response.context["messages"]] == ["error"]
    assert Space.objects.count() == 2
    assert deeds() == []


def test_another_width_is_an_alarm_on_the_first_page(
    desk: Client,
    old: Space,
    embedding_server: EmbeddingServer,
) -> None:
    embed_all(1)
    assert 'role="alert"' not in desk.get(reverse("admin:index")).content.decode()
    embedding_server.width = 5
    with pytest.raises(ValueError, match="4 wide"):
        embed_all()
    shown = desk.get(reverse("admin:index")).content.decode()
    assert 'role="alert"' in shown
    assert "answers with 5 numbers instead of 4" in shown
    assert "answers with 5 numbers" in desk.get(listing(Space)).content.decode()


def test_operators_by_their_group_only_look(client: Client, old: Space, opal: User) -> None:
    client.force_login(opal)
    wanted_or_not = Space.objects.get(pk=old.pk)
    assert client.get(page(wanted_or_not)).status_code == 200
    assert client.post(again(wanted_or_not)).status_code == 403
    assert client.post(page(wanted_or_not, "delete"), {"post": "yes"}).status_code == 403
    assert "embed-again" not in client.get(page(wanted_or_not)).content.decode()
    opal.user_permissions.set(Permission.objects.filter(codename="change_space"))
    assert client.post(again(wanted_or_not)).status_code == 403  # the older one is not wanted


def test_mallory_begins_nothing(client: Client, old: Space, mallory: User) -> None:
    embed_all()
    client.force_login(mallory)
    client.post(again(Space.objects.get(width=4)))
    assert Space.objects.count() == 2
