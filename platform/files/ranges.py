"""Which part of a content a request asks for (RFC 9110, section 14)."""

import re
from collections.abc import Mapping
from typing import NamedTuple

# Several parts are answered with the whole, as is what is no part.
ONE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*")


class Span(NamedTuple):
    """From `start` up to, not with, `end`."""

    start: int
    end: int


class UnsatisfiableError(Exception):
    """The content ends before the part begins."""


def asked_span(headers: Mapping[str, str], size: int, etag: str) -> Span | None:
    """The part; None where the whole is to be given. UnsatisfiableError (416)."""
    if_range = headers.get("If-Range")
    if if_range is not None and if_range.strip() != etag:
        return None  # what is at hand is of another content, or a date, which is not exact enough
    found = ONE.fullmatch(headers.get("Range", ""))
    if not found or found.group(0).strip() == "bytes=-":
        return None
    first, last = found.groups()
    if first and last and int(last) < int(first):
        return None
    return _span(first, last, size)


def _span(first: str, last: str, size: int) -> Span:
    if not first:
        span = Span(max(size - int(last), 0), size)  # so many from its end
    else:
        span = Span(int(first), min(int(last) + 1, size) if last else size)
    if span.start >= span.end:
        raise UnsatisfiableError
    return span
