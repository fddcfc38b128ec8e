"""The rehearsal model's HTTP server."""

import base64
import hashlib
import math
import struct
from contextlib import suppress
from json import JSONDecodeError
from typing import Any

from aiohttp import web

from providers.rehearsal.refusal import refuse
from providers.rehearsal.stream import MODEL, Performance
from providers.rehearsal.words import count_terms
from providers.tokens import estimate, estimate_messages

EMBEDDING_MODEL = "rehearsal-embedding"
EMBEDDING_WIDTH = 256
MAX_REQUEST_BYTES = 32 * 1024 * 1024
MALFORMED = (JSONDecodeError, KeyError, TypeError, ValueError, AttributeError)
PAUSE_SECONDS = web.AppKey("pause_seconds", float)
STREAM_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}


def build_app(pause_seconds: float) -> web.Application:
    """Return the server's application, which pauses after each piece of an answer."""
    app = web.Application(client_max_size=MAX_REQUEST_BYTES)
    app[PAUSE_SECONDS] = pause_seconds
    app.add_routes(
        [
            web.get("/health", tell_health),
            web.get("/v1/models", list_models),
            web.post("/v1/chat/completions", complete),
            web.post("/v1/embeddings", embed_texts),
            web.post("/v1/audio/speech", speak_or_listen),
            web.get("/v1/audio/voices", speak_or_listen),
            web.post("/v1/audio/transcriptions", speak_or_listen),
        ]
    )
    return app


async def tell_health(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def list_models(_request: web.Request) -> web.Response:
    names = (MODEL, EMBEDDING_MODEL)
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "kith"} for name in names]
    return web.json_response({"object": "list", "data": data})


async def read_chat(request: web.Request) -> dict[str, Any]:
    """Return the body of a chat request; raise HTTPBadRequest if its messages are missing or malformed."""
    try:
        body: dict[str, Any] = await request.json()
        estimate_messages(body["messages"], body.get("tools") or [])
    except MALFORMED:
        raise refuse("`messages` is missing or malformed") from None
    return body


async def complete(request: web.Request) -> web.StreamResponse:
    """Answer one chat request, with a stream if it asks for one."""
    performance = Performance(await read_chat(request), request.app[PAUSE_SECONDS])
    if not performance.body.get("stream"):
        return web.json_response(performance.answer_at_once())
    response = web.StreamResponse(headers=STREAM_HEADERS)
    with suppress(ConnectionError, TimeoutError):  # the client has left
        await response.prepare(request)
        async for event in performance.events():
            await response.write(event)
        await response.write_eof()
    return response


def embed(text: str, width: int) -> list[float]:
    """Return a vector of length 1, by feature hashing: each term's digest gives the position and sign of its count."""
    vector = [0.0] * width
    for term, count in (count_terms(text) or {text: 1}).items():
        digest = hashlib.blake2b(term.encode(), digest_size=8).digest()
        vector[int.from_bytes(digest[:7], "big") % width] += count if digest[7] % 2 else -count
    length = math.hypot(*vector)
    if not length:  # terms in one position with opposite signs cancelled each other
        vector[0] = length = 1.0
    return [value / length for value in vector]


async def embed_texts(request: web.Request) -> web.Response:
    """Answer one request for embeddings with a vector for each text, as floats or in base64."""
    try:
        body = await request.json()
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        vectors: list[Any] = [embed(text, int(body.get("dimensions") or EMBEDDING_WIDTH)) for text in texts]
    except MALFORMED:
        raise refuse("`input` must be a text or a list of texts") from None
    if body.get("encoding_format") == "base64":
        vectors = [base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode() for row in vectors]
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(vectors)]
    tokens = sum(map(estimate, texts))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    model = body.get("model") or EMBEDDING_MODEL
    return web.json_response({"object": "list", "model": model, "data": data, "usage": usage})


async def speak_or_listen(request: web.Request) -> web.Response:
    """Answer a request for speech, voices or a transcript, by a module that is loaded at the first of them."""
    from providers.rehearsal.sound import ANSWERS  # with numpy, it takes a fifth of this process's memory

    return await ANSWERS[request.path](request)
