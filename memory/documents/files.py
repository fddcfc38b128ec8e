"""A file as text: judged by what it holds, never by its name. Pure."""

import codecs
from collections.abc import Iterable
from contextlib import suppress

import regex
from django.utils.translation import gettext_lazy as _

from memory.documents.giving import MOST_CHARACTERS, too_large
from memory.errors import DocumentError

MOST_BYTES = 4 * MOST_CHARACTERS  # no encoding that is read here takes more of a character
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
GUESSES = ("utf-8", "gb18030")
# What writing in a Chinese encoding holds, and what bytes that are none seldom become: characters in daily use.
WRITTEN = regex.compile(r"[\p{Han}\p{P}\s\p{Latin}\d\p{Hiragana}\p{Katakana}]")
PRIVATE = regex.compile(r"[\p{Co}\p{Cn}]")
MOSTLY = 0.9
BINARY = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF", b"\x1f\x8b", b"MZ\x90")


def read_file(pieces: Iterable[bytes]) -> str:
    """The text of a file that comes in pieces; DocumentError as soon as there are too many bytes, or for no text."""
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) > MOST_BYTES:
            raise too_large()
    return decoded(bytes(held))


def decoded(held: bytes) -> str:
    """The text of these bytes, with plain line ends; DocumentError where they are none, or no text."""
    if not held:
        raise DocumentError("empty_document", _("The file is empty."))
    text = _decoded(held)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(held: bytes) -> str:
    for mark, encoding in BOMS:
        if held.startswith(mark):
            return _strictly(held, encoding)
    if b"\x00" in held or held.startswith(BINARY):
        raise _not_text()
    for encoding in GUESSES:
        with suppress(UnicodeDecodeError):
            text = held.decode(encoding)
            if encoding == "utf-8" or _is_writing(text):
                return text
    raise _not_text()


def _strictly(held: bytes, encoding: str) -> str:
    try:
        return held.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text() from error


def _is_writing(text: str) -> bool:
    """Whether a guessed encoding made writing of the bytes: by its first 20,000 characters."""
    seen = text[:20_000]
    return not PRIVATE.search(seen) and len(WRITTEN.findall(seen)) >= MOSTLY * len(seen)


def _not_text() -> DocumentError:
    detail = _(
        "This is no text that Kith can read: give plain text or Markdown, in UTF-8, UTF-16 or GB 18030."
    )
    return DocumentError("not_text", detail)
