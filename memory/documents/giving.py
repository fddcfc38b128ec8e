"""Giving a companion a long text: the document and its pages, all of it or nothing."""

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from memory.documents.paging import pages
from memory.errors import DocumentError
from memory.models import Document, Page
from memory.text import is_storable

MOST_CHARACTERS = (
    2_000_000  # of one document: a book of 60,000 words has 400,000; to part them takes two seconds
)
MOST_DOCUMENTS = 100  # of one companion
TITLE_CHARACTERS = 200
SHOWN = {"\n", "\r", "\t", "\f"}


@dataclass(frozen=True, slots=True)
class Given:
    """A long text as it is to be kept."""

    title: str
    text: str
    pages: list[str]


def parted(companion_id: UUID, title: str, text: str) -> Given:
    """The text in pages; DocumentError where it cannot be kept, before it is parted.

    Call it before the companion is locked: a long text takes seconds.
    """
    title, text = checked_title(title), checked_text(text)
    _look_for_room(companion_id)
    return Given(title, text, pages(text))


@transaction.atomic
def give(companion_id: UUID, given: Given, now: datetime, id: UUID | None = None) -> Document:
    """The document, stored with its pages, whose gists wait; DocumentError.

    Call it while the companion is locked, so that no two together are more than a companion can have.
    """
    _look_for_room(companion_id)
    document = Document.objects.create(
        id=id or uuid4(),
        companion_id=companion_id,
        title=given.title,
        characters=len(given.text),
        given_at=now,
    )
    rows = (
        Page(companion_id=companion_id, document=document, number=number, text=page)
        for number, page in enumerate(given.pages, start=1)
    )
    Page.objects.bulk_create(rows, batch_size=500)
    return document


def _look_for_room(companion_id: UUID) -> None:
    if Document.objects.filter(companion_id=companion_id).count() >= MOST_DOCUMENTS:
        detail = _("A companion can keep %(most)d documents. Delete one first.") % {"most": MOST_DOCUMENTS}
        raise DocumentError("too_many_documents", detail, 409)


def checked_title(title: str) -> str:
    """The title without blanks at its ends; DocumentError where it is empty, too long or not plain text."""
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in title):
        raise DocumentError("bad_title", _("A title cannot hold control characters."))
    title = title.strip()
    if not 1 <= len(title) <= TITLE_CHARACTERS:
        detail = _("A title has 1 to %(most)d characters.") % {"most": TITLE_CHARACTERS}
        raise DocumentError("bad_title", detail)
    return title


def checked_text(text: str) -> str:
    """The text as it came; DocumentError where it is blank, too long, or no text."""
    if len(text) > MOST_CHARACTERS:
        raise too_large()
    if not text.strip():
        raise DocumentError("empty_document", _("There is nothing in it to read."))
    if not is_storable(text) or _is_binary(text):
        raise DocumentError("not_text", _("This is no text that Kith can read."))
    return text


def too_large() -> DocumentError:
    """What is to be raised where a document is too large."""
    most = f"{MOST_CHARACTERS:,}"
    detail = _("A document can have %(most)s characters. Give it in parts.") % {"most": most}
    return DocumentError("document_too_large", detail, 413)


def _is_binary(text: str) -> bool:
    """Whether the text is strewn with control characters, as machine code is and no writing."""
    controls = sum(character < " " and character not in SHOWN for character in text)
    return controls * 100 > len(text)
