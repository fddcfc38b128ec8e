"""A file as an answer: from the storage piece by piece, whole or in part, and only by Kith itself."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from files.contents import opened
from files.models import StoredFile
from files.storage import Part

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


PIECE = 64 * 1024
ENDINGS = {
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "image/webp": "webp",
}  # what Kith writes, and a page may show
HEADERS = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",  # whoever has it asks each time whether it is still theirs
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; media-src 'self'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def served(request: HttpRequest, file: StoredFile) -> HttpResponse | StreamingHttpResponse:
    """200, 206, 304 or 416, for GET and HEAD; FilesError before anything is sent.

    A storage that breaks later breaks the answer, which is then shorter than it says.
    """
    etag = f'"{file.sha256}"'
    headers = {**HEADERS, **_naming(file), "ETag": etag}
    if _is_known(request, etag):
        return HttpResponse(status=304, headers=headers)
    try:
        span = asked_span(request.headers, file.bytes, etag)
    except UnsatisfiableError:
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{file.bytes}"})
    if span:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{file.bytes}"
    return _answer(request, file, span or Span(0, file.bytes), 206 if span else 200, headers)


def _answer(
    request: HttpRequest, file: StoredFile, span: Span, status: int, headers: dict[str, str]
) -> HttpResponse | StreamingHttpResponse:
    headers["Content-Length"] = str(span.end - span.start)
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=headers)
    part = opened(file, span.start, span.end)
    return StreamingHttpResponse(_pieces(part, span.end - span.start), status=status, headers=headers)


async def _pieces(part: Part, count: int) -> AsyncIterator[bytes]:
    """So many bytes; never the whole in memory, and no event loop waits for a disk or a server."""
    try:
        while count > 0 and (piece := await asyncio.to_thread(part.read, min(PIECE, count))):
            count -= len(piece)
            yield piece
    finally:
        part.close()


def _naming(file: StoredFile) -> dict[str, str]:
    """What no page of Kith shows is given to be saved, and not to be opened."""
    ending = ENDINGS.get(file.content_type)
    name = f"{file.kind}-{file.pk}.{ending or 'bin'}"
    return {
        "Content-Type": file.content_type if ending else "application/octet-stream",
        "Content-Disposition": f'{"inline" if ending else "attachment"}; filename="{name}"',
    }


def _is_known(request: HttpRequest, etag: str) -> bool:
    known = [one.strip().removeprefix("W/") for one in request.headers.get("If-None-Match", "").split(",")]
    return etag in known
