"""Large JSON read piece by piece: what surrounds messages is scanned and not built, so that memory stays small."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pasts.errors import PastFormatError

MAX_PIECE_BYTES = 20_000_000  # of what is built at once
MAX_PIECE_VALUES = 500_000
PEEKED_BYTES = 400  # of each value
WHOLE_BYTES = 8_000_000  # up to here it is built rather than scanned, which is quicker
SPACE = re.compile(rb"[ \t\r\n]*+")
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
TEXT = re.compile(STRING, re.DOTALL)
SCALAR = re.compile(rb'[^\s,\]\[{}":]++')
MAX_DEPTH = 200
LEVELS = 6  # of lists and objects that are passed over at once


def _write_pattern() -> bytes:
    """Return a pattern for whatever stands within a list or object, up to where it ends or is deeper than LEVELS.

    It never goes back: a byte is looked at LEVELS times at most.
    """
    flat = rb'[^"{}\[\]]*+(?:' + STRING + rb'[^"{}\[\]]*+)*+'
    within = flat
    for _level in range(LEVELS):
        within = flat + rb"(?:[{\[]" + within + rb"[}\]]" + flat + rb")*+"
    return within


WITHIN = re.compile(_write_pattern(), re.DOTALL)
OPENING, CLOSING = b"[{", b"]}"


@dataclass(frozen=True, slots=True)
class Built:
    """A value of JSON that is built."""

    value: Any

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    def members(self) -> Iterator[tuple[str, "Built"]]:
        """Yield the keys and values of an object; nothing of anything else."""
        if self.is_object:
            for key, value in self.value.items():
                yield key, Built(value)

    def elements(self) -> Iterator["Built"]:
        """Yield what is in a list; nothing of anything else."""
        if self.is_list:
            yield from map(Built, self.value)

    def load(self) -> Any:
        return self.value


@dataclass(frozen=True, slots=True)
class Scanned:
    """A value of JSON that is not built: where it begins in the file, and where the space for it ends."""

    source: bytes
    start: int
    end: int

    @property
    def is_object(self) -> bool:
        return self.source[self.start] == ord("{")

    @property
    def is_list(self) -> bool:
        return self.source[self.start] == ord("[")

    def members(self) -> Iterator[tuple[str, "Piece"]]:
        """Yield the keys and values of an object; nothing of anything else. PastFormatError."""
        if self.is_object:
            for key, at, end in _scan(self.source, self.start, self.end):
                yield str(build(key)), _take(self.source, at, end)

    def elements(self) -> Iterator["Piece"]:
        """Yield what is in a list; nothing of anything else. PastFormatError."""
        if self.is_list:
            for _key, at, end in _scan(self.source, self.start, self.end):
                yield _take(self.source, at, end)

    def load(self) -> Any:
        """Return it built. PastFormatError `too_large`, `too_deep`, `broken_json`."""
        return build(self.source[self.start : self.end])


Piece = Built | Scanned


def read_json(source: bytes) -> Piece:
    """Return what the file says, built where it is small. PastFormatError, here or as it is read on."""
    start = _skip_space(source, 0, len(source))
    if start == len(source):
        raise PastFormatError("broken_json")
    return Built(build(source)) if _is_small(source) else Scanned(source, start, len(source))


def peek_members(source: bytes, at: int = 0) -> dict[str, bytes]:
    """Return the keys of the object that begins there, and how each value begins, as far as the text goes.

    A file's first part is enough for it, and that it ends within a value is no error.
    """
    found: dict[str, bytes] = {}
    try:
        for key, start, _end in _scan(source, at, len(source), is_part=True):
            found.setdefault(str(build(key)), source[start : start + PEEKED_BYTES])
    except PastFormatError:
        pass
    return found


def build(content: bytes) -> Any:
    """Return what the JSON says. Bytes that are no UTF-8 become U+FFFD. PastFormatError."""
    if len(content) > MAX_PIECE_BYTES or _count_values(content) > MAX_PIECE_VALUES:
        raise PastFormatError("too_large")
    try:
        return json.loads(content.decode(errors="replace"))
    except RecursionError:
        raise PastFormatError("too_deep") from None
    except ValueError:
        raise PastFormatError("broken_json") from None


def _is_small(content: bytes) -> bool:
    return len(content) <= WHOLE_BYTES and _count_values(content) <= MAX_PIECE_VALUES


def _count_values(content: bytes) -> int:
    """Return about how many values it has, told by its marks: an empty list is two bytes there and sixty here."""
    return sum(map(content.count, (b",", b"[", b"{")))


def _take(source: bytes, at: int, end: int) -> Piece:
    content = source[at:end] if end - at <= WHOLE_BYTES else b""
    return Built(build(content)) if content and _is_small(content) else Scanned(source, at, end)


def _scan(source: bytes, start: int, end: int, *, is_part: bool = False) -> Iterator[tuple[bytes, int, int]]:
    """Yield the key, empty in a list, and the place of each value in the object or list that begins at `start`.

    Nothing but space may follow until `end`; of a part of a file, the last value may lack its own. PastFormatError
    `broken_json`.
    """
    is_object = source[start : start + 1] == b"{"
    closing = ord("}" if is_object else "]")
    at = _skip_space(source, start + 1, end)
    is_over = at < end and source[at] == closing
    while not is_over:
        key = b""
        if is_object:
            found = TEXT.match(source, at, end)
            at = _skip_space(source, found.end(), end) if found else end
            if not found or at >= end or source[at] != ord(":"):
                raise PastFormatError("broken_json")
            key, at = found.group(), _skip_space(source, at + 1, end)
        try:
            value_end = _find_end(source, at, end)
        except PastFormatError:
            if not is_part or at >= end:
                raise
            value_end = end
        yield key, at, value_end
        at = _skip_space(source, value_end, end)
        is_over = at < end and source[at] == closing
        if at >= end or (not is_over and source[at] != ord(",")):
            raise PastFormatError("broken_json")
        at = at if is_over else _skip_space(source, at + 1, end)
    if _skip_space(source, at + 1, end) != end:
        raise PastFormatError("broken_json")


def _find_end(source: bytes, at: int, limit: int) -> int:
    """Return where the value that begins there ends. PastFormatError `broken_json`, `too_deep`."""
    if at < limit and source[at] in OPENING:
        depth = 1
        while depth and (found := WITHIN.match(source, at + 1, limit)) and found.end() < limit:
            at = found.end()
            if source[at] in OPENING:
                depth += 1
            elif source[at] in CLOSING:
                depth -= 1
            else:
                break  # a text without an end
            if depth > MAX_DEPTH:
                raise PastFormatError("too_deep")
        if depth == 0:
            return at + 1
    elif found := TEXT.match(source, at, limit) or SCALAR.match(source, at, limit):
        return found.end()
    raise PastFormatError("broken_json")


def _skip_space(source: bytes, at: int, limit: int) -> int:
    found = SPACE.match(source, at, limit)
    return found.end() if found else at
