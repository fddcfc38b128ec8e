"""HTTP responses that serve a file: streamed from the storage by Kith itself, whole or in part."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header, parse_etags

from files.contents import open_content
from files.errors import FilesError
from files.models import StoredFile
from files.storage import Part

PIECE_BYTES = 64 * 1024
ENDINGS = {  # the types that Kith writes itself, which pages may show inline
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "image/webp": "webp",
}
HEADERS = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",  # browsers must ask each time whether they may still have it
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; media-src 'self'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
# Requests for several ranges, or for an invalid one, get the whole content (RFC 9110, section 14).
RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*")


class Span(NamedTuple):
    """The bytes from `start` up to `end` (exclusive)."""

    start: int
    end: int


class UnsatisfiableError(Exception):
    """The requested range begins after the content's end."""


def serve(request: HttpRequest, file: StoredFile) -> HttpResponse | StreamingHttpResponse:
    """Return the response to a GET or HEAD: 200, 206, 304 or 416. Raise FilesError before anything is sent.

    If the storage fails later, the response breaks off before its declared length.
    """
    # Types that no page of Kith shows are downloaded, never opened.
    ending, etag = ENDINGS.get(file.content_type), f'"{file.sha256}"'
    disposition, name = "inline" if ending else "attachment", f"{file.kind}-{file.pk}.{ending or 'bin'}"
    headers = HEADERS | {
        "Content-Type": file.content_type if ending else "application/octet-stream",
        "Content-Disposition": f'{disposition}; filename="{name}"',
        "ETag": etag,
    }
    if is_known(request, etag):
        return HttpResponse(status=304, headers=headers)
    try:
        span = find_span(request.headers, file.bytes, etag)
    except UnsatisfiableError:
        return HttpResponse(status=416, headers={**headers, "Content-Range": f"bytes */{file.bytes}"})
    if span:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{file.bytes}"
    start, end = span or (0, file.bytes)
    headers["Content-Length"] = str(end - start)
    status = 206 if span else 200
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=headers)
    pieces = _read_pieces(open_content(file, start, end), end - start)
    return StreamingHttpResponse(pieces, status=status, headers=headers)


def serve_on_page(request: HttpRequest, file: StoredFile) -> HttpResponseBase:
    """Return the response as `serve` does, or a FilesError as JSON, which only the API turns into a response itself."""
    try:
        return serve(request, file)
    except FilesError as error:
        return JsonResponse({"code": error.code, "detail": str(error.detail)}, status=error.status)


def is_known(request: HttpRequest, etag: str) -> bool:
    """Return whether the client already has the content with this ETag, by its header If-None-Match."""
    tags = parse_etags(request.headers.get("If-None-Match", ""))
    return tags == ["*"] or etag in [tag.removeprefix("W/") for tag in tags]


def attach(content: bytes, content_type: str, name: str) -> HttpResponse:
    """Return a response that downloads the content under `name`."""
    disposition = content_disposition_header(as_attachment=True, filename=name)
    headers = {"Content-Disposition": disposition or "attachment", "Cache-Control": "private, no-store"}
    return HttpResponse(content, content_type=content_type, headers=headers)


def find_span(headers: Mapping[str, str], size: int, etag: str) -> Span | None:
    """Return the requested range, or None if the whole content is to be sent. Raise UnsatisfiableError (416)."""
    if_range = headers.get("If-Range")
    if if_range is not None and if_range.strip() != etag:
        return None  # the client has another content, or compares by date, which is not exact enough
    found = RANGE.fullmatch(headers.get("Range", ""))
    first, last = found.groups() if found else ("", "")
    if not (first or last) or (first and last and int(last) < int(first)):
        return None
    if not first:
        start, end = max(size - int(last), 0), size  # the last bytes
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
    if start >= end:
        raise UnsatisfiableError
    return Span(start, end)


async def _read_pieces(part: Part, count: int) -> AsyncIterator[bytes]:
    """Yield `count` bytes in pieces and close the stream; reads happen in a thread, not on the event loop."""
    try:
        while count > 0 and (piece := await asyncio.to_thread(part.read, min(PIECE_BYTES, count))):
            count -= len(piece)
            yield piece
    finally:
        part.close()
