"""A drawing as an answer."""

import hashlib

from django.http import HttpRequest, HttpResponse

from files.serving import HEADERS


def drawn(request: HttpRequest, text: str) -> HttpResponse:
    """200, or 304 to whoever has it; shown on a page or opened by itself it can do nothing."""
    etag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    headers = {name: value for name, value in HEADERS.items() if name != "Accept-Ranges"} | {"ETag": etag}
    if etag in request.headers.get("If-None-Match", ""):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(text, content_type="image/svg+xml", headers=headers)
