"""A document is kept whole or not at all."""

import pytest

from companions.memories.editing import delete_document, give_document
from companions.models import Companion
from companions.models.companion import lock
from memory.documents import intake
from memory.errors import DocumentError
from memory.models import Document, Memory, Page
from tests.memory.documents.conftest import NOON, Give, book, write_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


def test_its_pages_joined_are_the_text(given: Give) -> None:
    document = given(count=30)
    pages = list(document.pages.order_by("number"))
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    assert "".join(page.text for page in pages) == book(30)
    assert document.characters == len(book(30))


@pytest.mark.parametrize("title", ["", "  ", "a\nb", "a\x07b", "a\x00b", "a\u2028b", "\ud800", "x" * 201])
def test_a_title_is_one_plain_line(mira: Companion, title: str) -> None:
    with pytest.raises(DocumentError) as refused:
        give_document(mira, title, "A text.", NOON)
    assert refused.value.code == "bad_title"
    assert not Document.objects.exists()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_document"),
        (" \n\t ", "empty_document"),
        ("a\x00b", "not_text"),
        ("\ud800", "not_text"),
        ("\x01\x02\x03 machine", "not_text"),
    ],
)
def test_a_text_is_something_to_read(mira: Companion, text: str, code: str) -> None:
    with pytest.raises(DocumentError) as refused:
        give_document(mira, "A title", text, NOON)
    assert refused.value.code == code
    assert not Document.objects.exists()


def test_a_text_is_not_too_long(mira: Companion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_CHARACTERS", 10)
    give_document(mira, "Ten", "0123456789", NOON)
    with pytest.raises(DocumentError) as refused:
        give_document(mira, "Eleven", "0123456789a", NOON)
    assert (refused.value.code, refused.value.status) == ("document_too_large", 413)
    assert Document.objects.count() == 1


def test_a_companion_has_only_so_many(mira: Companion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_DOCUMENTS", 1)
    give_document(mira, "One", "A text.", NOON)
    with pytest.raises(DocumentError) as refused:
        give_document(mira, "Two", "A text.", NOON)
    assert (refused.value.code, refused.value.status) == ("too_many_documents", 409)


def test_where_there_is_no_room_nothing_is_parted(mira: Companion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_DOCUMENTS", 0)
    monkeypatch.setattr(intake, "split_into_pages", lambda text: pytest.fail("It was parted."))
    with pytest.raises(DocumentError):
        give_document(mira, "One", "A text.", NOON)


def test_two_that_were_parted_at_once_do_not_both_take_the_last_place(
    mira: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MAX_DOCUMENTS", 1)
    first, second = (intake.split_text(mira.pk, title, "A text.") for title in ("One", "Two"))
    intake.store_document(mira.pk, first, NOON)
    with pytest.raises(DocumentError):
        intake.store_document(mira.pk, second, NOON)
    assert Document.objects.count() == 1


def test_a_companion_is_locked_only_after_its_text_was_parted(
    mira: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = []
    monkeypatch.setattr(intake, "split_into_pages", lambda text: order.append("parted") or [text])
    monkeypatch.setattr(Companion, "lock", lambda mine: order.append("locked") or lock(mine.pk))
    give_document(mira, "One", "A text.", NOON)
    assert order == ["parted", "locked"]


@pytest.mark.usefixtures("rehearsal")
def test_deleted_with_its_pages_and_their_memories(given: Give, mira: Companion) -> None:
    document, other = given("One"), given("Other", 1)
    write_all(document)
    write_all(other)
    delete_document(document, NOON)
    assert set(Page.objects.values_list("document", flat=True)) == {other.pk}
    assert Memory.objects.filter(companion=mira, kind="gist").count() == 1


def test_nobody_is_given_anything_who_is_gone(mira: Companion) -> None:
    Companion.objects.filter(pk=mira.pk).delete()
    assert not lock(mira.pk)
    with pytest.raises(DocumentError):
        give_document(mira, "A title", "A text.", NOON)
