"""Large JSON read piece by piece: what surrounds a message is scanned and never built, so that memory stays small."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pasts.errors import PastFormatError

MAX_PIECE_BYTES = 20_000_000  # of what is built at once: one message with all that its program noted of it
MAX_PIECE_VALUES = 500_000
SPACE = re.compile(rb"[ \t\r\n]*+")
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
TEXT = re.compile(STRING, re.DOTALL)
SCALAR = re.compile(rb'[^\s,\]\[{}":]++')
BRACKET = re.compile(rb'[^"{}\[\]]*+(?:' + STRING + rb'[^"{}\[\]]*+)*+[{}\[\]]', re.DOTALL)
OPENING = b"[{"


@dataclass(frozen=True, slots=True)
class Piece:
    """A value of JSON that is not built yet: where it stands in the file."""

    source: bytes
    start: int
    end: int

    @property
    def kind(self) -> str:
        """Return its first character, which tells what it is: `{`, `[`, `"`, or one of a number's or a word's."""
        return chr(self.source[self.start])

    def members(self) -> Iterator[tuple[str, "Piece"]]:
        """Yield the keys and values of an object, in the file's order; nothing of anything else. PastFormatError."""
        if self.kind == "{":
            for key, piece in _scan(self.source, self.start, self.end):
                yield str(build(key)), piece

    def elements(self) -> Iterator["Piece"]:
        """Yield what is in a list; nothing of anything else. PastFormatError."""
        if self.kind == "[":
            for _key, piece in _scan(self.source, self.start, self.end):
                yield piece

    def load(self) -> Any:
        """Return it built. PastFormatError `too_large`, `too_deep`, `broken_json`."""
        return build(self.source[self.start : self.end])


def scan_first(source: bytes, at: int = 0) -> Piece | None:
    """Return the first value from there on; None where nothing but space is left. PastFormatError `broken_json`."""
    start = _skip_space(source, at, len(source))
    return Piece(source, start, _find_end(source, start, len(source))) if start < len(source) else None


def peek_members(source: bytes, at: int = 0) -> dict[str, bytes]:
    """Return the keys of the object that begins there, and how each value begins, as far as the text goes.

    A file's first part is enough for it, and that it ends within a value is no error.
    """
    found: dict[str, bytes] = {}
    try:
        for key, start in _scan_starts(source, at, len(source)):
            found.setdefault(str(build(key)), source[start : start + 100])
    except PastFormatError:
        pass
    return found


def build(content: bytes) -> Any:
    """Return what the JSON says. Bytes that are no UTF-8 become U+FFFD. PastFormatError."""
    if len(content) > MAX_PIECE_BYTES or sum(map(content.count, (b",", b"[", b"{"))) > MAX_PIECE_VALUES:
        raise PastFormatError("too_large")
    try:
        return json.loads(content.decode(errors="replace"))
    except RecursionError:
        raise PastFormatError("too_deep") from None
    except ValueError:
        raise PastFormatError("broken_json") from None


def _scan(source: bytes, start: int, end: int) -> Iterator[tuple[bytes, Piece]]:
    for key, at in _scan_starts(source, start, end):
        yield key, Piece(source, at, _find_end(source, at, end))


def _scan_starts(source: bytes, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """Yield the key, empty in a list, and the place of each value in the object or list that begins at `start`."""
    is_object = source[start : start + 1] == b"{"
    closing = ord("}" if is_object else "]")
    at = _skip_space(source, start + 1, end)
    if at < end and source[at] == closing:
        return
    while True:
        key = b""
        if is_object:
            found = TEXT.match(source, at, end)
            at = _skip_space(source, found.end(), end) if found else end
            if not found or at >= end or source[at] != ord(":"):
                raise PastFormatError("broken_json")
            key, at = found.group(), _skip_space(source, at + 1, end)
        yield key, at
        at = _skip_space(source, _find_end(source, at, end), end)
        if at >= end:
            raise PastFormatError("broken_json")
        if source[at] == closing:
            return
        if source[at] != ord(","):
            raise PastFormatError("broken_json")
        at = _skip_space(source, at + 1, end)


def _find_end(source: bytes, at: int, limit: int) -> int:
    """Return where the value that begins there ends. PastFormatError `broken_json`."""
    if at < limit and source[at] in OPENING:
        depth = 0
        while found := BRACKET.match(source, at, limit):
            at = found.end()
            depth += 1 if source[at - 1] in OPENING else -1
            if depth == 0:
                return at
    elif found := TEXT.match(source, at, limit) or SCALAR.match(source, at, limit):
        return found.end()
    raise PastFormatError("broken_json")


def _skip_space(source: bytes, at: int, limit: int) -> int:
    found = SPACE.match(source, at, limit)
    return found.end() if found else at
