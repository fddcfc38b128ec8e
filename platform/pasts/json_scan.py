"""Incremental reading of large JSON: what surrounds messages is scanned and not built, so that memory stays small.

No byte is scanned much more than once: the end of a large value is found by reading its contents.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from pasts.past import PastFormatError
from text.json_size import count_values

MAX_VALUES = 10_000_000  # per file; nested lists cost more than their bytes suggest
MAX_PIECE_BYTES = 20_000_000  # of a value that is built at once
MAX_PIECE_VALUES = 500_000
MEMBER_BYTES = 400  # of each value
WHOLE_BYTES = 8_000_000  # smaller values are built instead of scanned, which is faster
JUDGED_BYTES = 200_000  # examined of a value without an end
SPACES = rb"[ \t\r\n]*+"
SPACE = re.compile(SPACES)
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
TEXT = re.compile(STRING, re.DOTALL)
KEY = re.compile(rb"(" + STRING + rb")" + SPACES + rb":" + SPACES, re.DOTALL)
SCALAR = re.compile(rb'[^\s,\]\[{}":]++')
MARKS = re.compile(STRING + rb"|[\[\]{}]", re.DOTALL)
LEVELS = 24  # of nested lists and objects within a value that is not built


def _write_pattern() -> bytes:
    """Return a pattern for the contents of a list or object, up to its end or to nesting deeper than LEVELS.

    The pattern never backtracks.
    """
    flat = rb'[^"{}\[\]]*+(?:' + STRING + rb'[^"{}\[\]]*+)*+'
    within = flat
    for _level in range(LEVELS):
        within = flat + rb"(?:[{\[]" + within + rb"[}\]]" + flat + rb")*+"
    return within


WITHIN = re.compile(_write_pattern(), re.DOTALL)
OPENING, CLOSING = b"[{", b"]}"
SPACE_BYTE = ord(" ")


@dataclass(frozen=True, slots=True)
class Built:
    """A JSON value that is built in memory."""

    value: Any

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    def members(self) -> Iterator[tuple[str, "Built"]]:
        """Yield the keys and values if this is an object, otherwise nothing."""
        if self.is_object:
            for key, value in self.value.items():
                yield key, Built(value)

    def elements(self) -> Iterator["Built"]:
        """Yield the elements if this is a list, otherwise nothing."""
        if self.is_list:
            yield from map(Built, self.value)

    def load(self) -> Any:
        return self.value


@dataclass(slots=True)
class Scanned:
    """A JSON value that is not built: its start in the file, and its end once that is known."""

    source: bytes
    start: int
    end: int | None = None
    is_root: bool = False  # nothing may follow the root

    @property
    def is_object(self) -> bool:
        return self.source[self.start] == ord("{")

    @property
    def is_list(self) -> bool:
        return self.source[self.start] == ord("[")

    def members(self) -> Iterator[tuple[str, "Piece"]]:
        """Yield the keys and values if this is an object, otherwise nothing. Raise PastFormatError."""
        if self.is_object:
            for key, value in _scan(self):
                yield read_key(key), _take(value)

    def elements(self) -> Iterator["Piece"]:
        """Yield the elements if this is a list, otherwise nothing. Raise PastFormatError."""
        if self.is_list:
            for _key, value in _scan(self):
                yield _take(value)

    def find_end(self) -> int:
        """Return the index after the value's last byte. Raise PastFormatError `broken_json` or `too_deep`."""
        if self.end is None:
            self.end = _find_end(self.source, self.start, len(self.source))
        if self.end is None:
            raise _find_error(self.source, self.start)
        return self.end

    def load(self) -> Any:
        """Return the value, built. Raise PastFormatError `too_large`, `too_deep` or `broken_json`."""
        most = self.start + MAX_PIECE_BYTES
        if self.end is None:
            self.end = _find_end(self.source, self.start, most)
        if (self.end or len(self.source)) > most:
            raise PastFormatError("too_large")
        return build(self.source[self.start : self.find_end()])


Piece = Built | Scanned


def read_json(source: bytes) -> Piece:
    """Return the file's root value, built if it is small. Raise PastFormatError, here or on further reading."""
    start = _skip_space(source, 0)
    if start == len(source):
        raise PastFormatError("broken_json")
    return Built(build(source)) if _is_small(source) else Scanned(source, start, is_root=True)


def peek_members(source: bytes, at: int, most: int = MEMBER_BYTES) -> dict[str, bytes]:
    """Return the keys of the object that begins at `at`, each with the first `most` bytes of its value.

    `source` may be the beginning of a file: it is not an error if it ends within a value.
    """
    found: dict[str, bytes] = {}
    try:
        for key, value in _scan(Scanned(source, at)):
            found.setdefault(read_key(key), source[value.start : value.start + most])
    except PastFormatError:
        pass
    return found


def build(content: bytes) -> Any:
    """Return the parsed JSON. Bytes that are not UTF-8 become U+FFFD. Raise PastFormatError."""
    if len(content) > MAX_PIECE_BYTES or not _has_few_values(content):
        raise PastFormatError("too_large")
    try:
        return orjson.loads(content)
    except ValueError:
        pass  # it may be something that only orjson refuses: a lone surrogate, NaN, bytes that are not UTF-8
    try:
        return json.loads(content.decode(errors="replace"))
    except RecursionError:
        raise PastFormatError("too_deep") from None
    except ValueError:
        raise PastFormatError("broken_json") from None


def read_key(key: bytes) -> str:
    """Return the text of a key that is given as a JSON string in quotation marks."""
    return str(build(key)) if b"\\" in key else key[1:-1].decode(errors="replace")


def _has_few_values(content: bytes) -> bool:
    return len(content) <= MAX_PIECE_VALUES or count_values(content) <= MAX_PIECE_VALUES


def _is_small(content: bytes) -> bool:
    return len(content) <= WHOLE_BYTES and _has_few_values(content)


def _take(value: Scanned) -> Piece:
    if value.end is None or value.end - value.start > WHOLE_BYTES:
        return value
    content = value.source[value.start : value.end]
    return Built(build(content)) if _is_small(content) else value


def _scan(whole: Scanned) -> Iterator[tuple[bytes, Scanned]]:
    """Yield each key (empty in a list) and value of an object or list; set the end of `whole` after the last one.

    Raise PastFormatError.
    """
    source, length = whole.source, len(whole.source)
    is_object = whole.is_object
    closing = ord("}" if is_object else "]")
    at = _skip_space(source, whole.start + 1)
    is_over = at < length and source[at] == closing
    while not is_over:
        key = b""
        if is_object:
            found = KEY.match(source, at)
            if not found:
                raise PastFormatError("broken_json")
            key, at = found[1], found.end()
        if at >= length:
            raise PastFormatError("broken_json")
        value = Scanned(source, at, _find_end(source, at, at + WHOLE_BYTES))
        yield key, value
        at = value.end or value.find_end()
        at = at if at < length and source[at] > SPACE_BYTE else _skip_space(source, at)
        is_over = at < length and source[at] == closing
        if at >= length or (not is_over and source[at] != ord(",")):
            raise PastFormatError("broken_json")
        if not is_over:
            at += 1
            at = at if at < length and source[at] > SPACE_BYTE else _skip_space(source, at)
    whole.end = at + 1
    if whole.is_root and _skip_space(source, whole.end) != length:
        raise PastFormatError("broken_json")


def _find_end(source: bytes, at: int, limit: int) -> int | None:
    """Return where the value at `at` ends; None if it does not end before `limit`, is invalid, or nested too deep."""
    limit = min(limit, len(source))
    if source[at] in OPENING:
        found = WITHIN.match(source, at + 1, limit)
        end = found.end() if found else limit
        return end + 1 if end < limit and source[end] in CLOSING else None
    found = TEXT.match(source, at, limit) or SCALAR.match(source, at, limit)
    return found.end() if found and (found.end() < limit or limit == len(source)) else None


def _find_error(source: bytes, at: int) -> PastFormatError:
    """Return the error of a value whose end was not found, judged by at most JUDGED_BYTES of it."""
    found = WITHIN.match(source, at + 1) if source[at] in OPENING else None
    start, depth = found.end() if found else at, 0
    for mark in MARKS.finditer(source, start, start + JUDGED_BYTES):
        depth += (mark.group() in (b"[", b"{")) - (mark.group() in (b"]", b"}"))
        if depth > LEVELS:
            return PastFormatError("too_deep")
    return PastFormatError("broken_json")


def _skip_space(source: bytes, at: int) -> int:
    found = SPACE.match(source, at)
    return found.end() if found else at


# -- values of untrusted JSON, coerced to the expected types


def as_mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""
