"""Whoever deletes the gist of a page wants gone what stands there; the other pages stay."""

import pytest
from django.test import Client
from django.urls import reverse

from companions.deletion import forget, forget_every
from companions.memories.editing import delete_document
from companions.models import Companion
from memory.documents.gists import DONE, find_due, state_of, with_progress
from memory.documents.lookup import find_pages, look_up
from memory.models import Document, Memory
from memory.store import keep_fact
from tests.memory.documents.conftest import NOON, Give, write_all
from tests.memory.documents.test_page_lookup import asks

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rehearsal")]
QUESTION = "Who lost the brass telescope?"


def insight(mira: Companion, gist: Memory) -> Memory:
    """Something that was drawn from a gist alone."""
    drawn = keep_fact(mira.pk, "Somebody is careless with brass.", NOON, NOON)
    drawn.drawn_from.add(gist)
    return drawn


def test_a_deleted_gist_takes_its_page_along_and_is_not_written_again(given: Give, mira: Companion) -> None:
    document = given()
    write_all(document)
    page = look_up(mira.pk, asks(mira, QUESTION))[0].page
    assert page is not None
    assert page.memory is not None
    insight(mira, page.memory)
    forget(page.memory, NOON)
    page.refresh_from_db()
    assert (page.text, page.gist, page.memory_id, page.call_id, page.is_deleted) == ("", "", None, None, True)
    assert not Memory.objects.filter(kind="fact").exists()
    assert page not in [one.page for one in look_up(mira.pk, asks(mira, QUESTION))]
    assert find_pages(mira.pk, "The coast", [page.number]) == [page]
    assert (find_due(NOON), write_all(document)) == ([], 0)
    assert document.pages.exclude(text="").exclude(gist="").count() == 9


def test_a_document_with_a_deleted_page_is_done_and_says_which(
    given: Give, mira: Companion, client: Client
) -> None:
    document = given()
    write_all(document)
    forget(Memory.objects.get(page__number=4), NOON)
    shown = with_progress(Document.objects.all()).get()
    assert state_of(shown, shown.done, shown.total) == DONE  # type: ignore[attr-defined]
    client.force_login(mira.user)
    told = client.get(reverse("document", args=[mira.pk, document.pk])).content.decode()
    assert told.count("Page 4 was deleted.") == 1
    assert "Page 3 was deleted." not in told


def test_every_gist_deleted_leaves_no_text(given: Give, mira: Companion) -> None:
    document = given()
    write_all(document)
    assert forget_every(mira.pk, ["gist"], NOON) == 10
    assert not document.pages.exclude(text="").exists()


def test_a_deleted_document_takes_along_what_was_drawn_from_its_gists(given: Give, mira: Companion) -> None:
    document = given()
    write_all(document)
    insight(mira, Memory.objects.get(page__number=2))
    other = keep_fact(mira.pk, "Ida plays the cello.", NOON, NOON)
    delete_document(document, NOON)
    assert list(Memory.objects.all()) == [other]
