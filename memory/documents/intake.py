"""Giving a companion a long text: a file or a string becomes a document and its pages, as a whole or not at all."""

import codecs
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import regex
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from memory.documents.pagination import split_into_pages
from memory.errors import DocumentError
from memory.models import Document, Page
from memory.models.document import TITLE_CHARACTERS
from text.strings import is_storable

# Of one document: a book of 60,000 words has 400,000. Splitting the maximum into pages takes two seconds.
MAX_CHARACTERS = 2_000_000
MAX_DOCUMENTS = 100  # of one companion
SHOWN = {"\n", "\r", "\t", "\f"}
MAX_BYTES = 4 * MAX_CHARACTERS  # no encoding that is read here takes more per character
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
GUESSES = ("utf-8", "gb18030")
# Characters in daily use: most of a text in a Chinese encoding, but seldom what other bytes are decoded to.
WRITTEN = regex.compile(r"[\p{Han}\p{P}\s\p{Latin}\d\p{Hiragana}\p{Katakana}]")
PRIVATE = regex.compile(r"[\p{Co}\p{Cn}]")
MOSTLY = 0.9
BINARY = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF", b"\x1f\x8b", b"MZ\x90")


@dataclass(frozen=True, slots=True)
class Given:
    """A long text that may be stored, split into pages."""

    title: str
    text: str
    pages: list[str]


def split_text(companion_id: UUID, title: str, text: str) -> Given:
    """Check the text and split it into pages. Raise DocumentError if it cannot be stored.

    Call it before the companion is locked: a long text takes seconds.
    """
    if any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in title):
        raise DocumentError("bad_title", _("A title cannot contain control characters."))
    title = title.strip()
    if not 1 <= len(title) <= TITLE_CHARACTERS:
        detail = _("A title must have 1 to %(most)d characters.") % {"most": TITLE_CHARACTERS}
        raise DocumentError("bad_title", detail)
    if len(text) > MAX_CHARACTERS:
        raise _too_large()
    if not text.strip():
        raise DocumentError("empty_document", _("There is nothing in it to read."))
    controls = sum(character < " " and character not in SHOWN for character in text)
    if not is_storable(text) or controls * 100 > len(text):  # binary data is full of them
        raise DocumentError("not_text", _("Kith cannot read this text."))
    _require_room(companion_id)
    return Given(title, text, split_into_pages(text))


@transaction.atomic
def store_document(companion_id: UUID, given: Given, now: datetime) -> Document:
    """Store the document with its pages, whose gists are written later. Raise DocumentError if there are too many.

    Call it with the companion locked, so that concurrent calls cannot exceed the limit.
    """
    _require_room(companion_id)
    document = Document.objects.create(
        companion_id=companion_id, title=given.title, characters=len(given.text), given_at=now
    )
    rows = (
        Page(companion_id=companion_id, document=document, number=number, text=page)
        for number, page in enumerate(given.pages, start=1)
    )
    Page.objects.bulk_create(rows, batch_size=500)
    return document


def _require_room(companion_id: UUID) -> None:
    if Document.objects.filter(companion_id=companion_id).count() >= MAX_DOCUMENTS:
        detail = _("A companion can keep up to %(most)d documents. Delete one first.") % {
            "most": MAX_DOCUMENTS
        }
        raise DocumentError("too_many_documents", detail, 409)


def _too_large() -> DocumentError:
    """Return the error for a document that is too large."""
    most = f"{MAX_CHARACTERS:,}"
    detail = _("A document can have up to %(most)s characters. Split it into parts.") % {"most": most}
    return DocumentError("document_too_large", detail, 413)


def read_file(pieces: Iterable[bytes]) -> str:
    """Return the text of a file that comes in pieces. Raise DocumentError if it is too large or not text."""
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) > MAX_BYTES:
            raise _too_large()
    return decode(bytes(held))


def decode(held: bytes) -> str:
    """Return the text of these bytes, with plain line ends. Raise DocumentError if they are empty or not text."""
    if not held:
        raise DocumentError("empty_document", _("The file is empty."))
    encodings = [encoding for mark, encoding in BOMS if held.startswith(mark)]
    is_binary = b"\x00" in held or held.startswith(BINARY)
    for encoding in encodings[:1] or (() if is_binary else GUESSES):
        with suppress(UnicodeDecodeError):
            text = held.decode(encoding)
            seen = text[:20_000]
            is_writing = not PRIVATE.search(seen) and len(WRITTEN.findall(seen)) >= MOSTLY * len(seen)
            if encoding != "gb18030" or is_writing:  # gb18030 is a guess, which decodes nearly any bytes
                return text.replace("\r\n", "\n").replace("\r", "\n")
    detail = _("Kith cannot read this file: use plain text or Markdown, in UTF-8, UTF-16 or GB 18030.")
    raise DocumentError("not_text", detail)
