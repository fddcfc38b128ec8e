"""An answer with sound in it, sent as the script wants it."""

import asyncio
import base64
import json

from aiohttp import web

from providers.rehearsal.sound.script import SoundStep

LONGEST_HANG_SECONDS = 600.0
PART_BYTES = 1_024
PAGE = "<!doctype html><title>Sign in</title><p>Welcome to the proxy"


async def played(request: web.Request, step: SoundStep, body: bytes, kind: str) -> web.StreamResponse:
    """The response: this body, unless the step wants another, an error, or an end half-way."""
    if step.delay:
        await asyncio.sleep(step.delay)
    if step.html:
        return web.Response(text=PAGE, content_type="text/html")
    if step.error is not None:
        return _refusal(step.error)
    body = body if step.body is None else base64.b64decode(step.body)
    kind = step.kind or kind
    if not step.rate and step.cut_after is None and step.hang_after is None:
        return web.Response(body=body, content_type=kind)
    return await _in_parts(request, step, body, kind)


async def _in_parts(request: web.Request, step: SoundStep, body: bytes, kind: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(request)
    ends = [end for end in (step.cut_after, step.hang_after) if end is not None]
    sent = body[: min(ends, default=len(body))]
    for at in range(0, len(sent), PART_BYTES):
        await response.write(sent[at : at + PART_BYTES])
        await asyncio.sleep(PART_BYTES / step.rate if step.rate else 0)
    if step.hang_after is not None:
        await asyncio.sleep(LONGEST_HANG_SECONDS)
    if step.cut_after is not None and request.transport is not None:
        request.transport.close()
    else:
        await response.write_eof()
    return response


def _refusal(error: dict[str, object]) -> web.Response:
    said = error.get("body", {"error": {"message": "scripted error"}})
    text = said if isinstance(said, str) else json.dumps(said)
    kind = "text/plain" if isinstance(said, str) else "application/json"
    headers = error.get("headers")
    return web.Response(
        status=int(str(error["status"])),
        text=text,
        content_type=kind,
        headers=headers if isinstance(headers, dict) else None,
    )
