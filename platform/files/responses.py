"""A file as an answer: from the storage piece by piece, whole or in part, and only by Kith itself."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

from files.contents import open_content
from files.models import StoredFile
from files.storage import Part

PIECE_BYTES = 64 * 1024
ENDINGS = {  # what Kith writes, and a page may show
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "image/webp": "webp",
}
HEADERS = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",  # whoever has it asks each time whether it is still theirs
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; media-src 'self'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
# Several parts are answered with the whole, as is what is no part (RFC 9110, section 14).
RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*")


class Span(NamedTuple):
    """From `start` up to, not with, `end`."""

    start: int
    end: int


class UnsatisfiableError(Exception):
    """The content ends before the part begins."""


def serve(request: HttpRequest, file: StoredFile) -> HttpResponse | StreamingHttpResponse:
    """Answer 200, 206, 304 or 416, for GET and HEAD; FilesError before anything is sent.

    A storage that breaks later breaks the answer, which is then shorter than it says.
    """
    # What no page of Kith shows is given to be saved, and not to be opened.
    ending, etag = ENDINGS.get(file.content_type), f'"{file.sha256}"'
    disposition, name = "inline" if ending else "attachment", f"{file.kind}-{file.pk}.{ending or 'bin'}"
    headers = HEADERS | {
        "Content-Type": file.content_type if ending else "application/octet-stream",
        "Content-Disposition": f'{disposition}; filename="{name}"',
        "ETag": etag,
    }
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")]
    if etag in known:
        return HttpResponse(status=304, headers=headers)
    try:
        span = find_span(request.headers, file.bytes, etag)
    except UnsatisfiableError:
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{file.bytes}"})
    if span:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{file.bytes}"
    status, (start, end) = 206 if span else 200, span or Span(0, file.bytes)
    headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=headers)
    pieces = _read_pieces(open_content(file, start, end), end - start)
    return StreamingHttpResponse(pieces, status=status, headers=headers)


def attach(content: bytes, content_type: str, name: str) -> HttpResponse:
    """Answer with what was made for a person, to be saved under that name."""
    disposition = content_disposition_header(as_attachment=True, filename=name)
    headers = {"Content-Disposition": disposition or "attachment", "Cache-Control": "private, no-store"}
    return HttpResponse(content, content_type=content_type, headers=headers)


def find_span(headers: Mapping[str, str], size: int, etag: str) -> Span | None:
    """Return which part is asked for; None where the whole is to be given. UnsatisfiableError (416)."""
    if_range = headers.get("If-Range")
    if if_range is not None and if_range.strip() != etag:
        return None  # what is at hand is of another content, or a date, which is not exact enough
    found = RANGE.fullmatch(headers.get("Range", ""))
    first, last = found.groups() if found else ("", "")
    if not (first or last) or (first and last and int(last) < int(first)):
        return None
    if not first:
        start, end = max(size - int(last), 0), size  # so many from its end
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
    if start >= end:
        raise UnsatisfiableError
    return Span(start, end)


async def _read_pieces(part: Part, count: int) -> AsyncIterator[bytes]:
    """Yield so many bytes; never the whole in memory, and no event loop waits for a disk or a server."""
    try:
        while count > 0 and (piece := await asyncio.to_thread(part.read, min(PIECE_BYTES, count))):
            count -= len(piece)
            yield piece
    finally:
        part.close()
