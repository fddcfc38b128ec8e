"""The rehearsal model's HTTP server. By /control/* a test scripts it and reads what it was sent."""

import asyncio
import base64
import hashlib
import itertools
import math
import struct
from dataclasses import asdict
from json import JSONDecodeError
from typing import Any

from aiohttp import web

from providers.rehearsal.prompt import Talk, find_task, read_last_asked
from providers.rehearsal.script import SCRIPT, Call, Script, Step, make_error
from providers.rehearsal.stream import Performance, ScriptedBreak
from providers.rehearsal.words import count_terms
from providers.tokens import estimate, estimate_messages

MODEL, EMBEDDING_MODEL = "rehearsal", "rehearsal-embedding"
EMBEDDING_WIDTH = 256
MAX_REQUEST_BYTES = 32 * 1024 * 1024
MALFORMED = (JSONDecodeError, KeyError, TypeError, ValueError, AttributeError)
PAUSE_SECONDS = web.AppKey("pause_seconds", float)
NUMBERS = itertools.count(1)


def build_app(pause_seconds: float, *, is_scriptable: bool) -> web.Application:
    """Return the server's application, with /control/* only if `is_scriptable`."""
    app = web.Application(client_max_size=MAX_REQUEST_BYTES)
    app[SCRIPT], app[PAUSE_SECONDS] = Script(), pause_seconds
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
    if is_scriptable:
        app.add_routes([web.get("/control/{name}", show), web.post("/control/{name}", change)])
    return app


async def tell_health(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def list_models(_request: web.Request) -> web.Response:
    names = (MODEL, EMBEDDING_MODEL)
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "kith"} for name in names]
    return web.json_response({"object": "list", "data": data})


async def complete(request: web.Request) -> web.StreamResponse:
    """Answer one chat request, with a stream if it asks for one."""
    script = request.app[SCRIPT]
    try:
        body = await request.json()
        messages = body["messages"]
        prompt_tokens = estimate_messages(messages, body.get("tools") or [])
    except MALFORMED:
        return make_error("`messages` is missing or malformed")
    script.requests.append(body)
    task = find_task(body)
    step = script.take("chat", read_last_asked(messages) if task else Talk(messages).question, task)
    port = request.get_extra_info("peername", ("", 0))[1]
    call = Call(f"rehearsal-{next(NUMBERS)}", body.get("model") or MODEL, prompt_tokens, port)
    script.calls.append(call)
    if refused := step.refuse(body):
        call.state = "refused"
        return refused
    performance = Performance(body, step, call, request.app[PAUSE_SECONDS])
    if body.get("stream"):
        return await _stream(request, performance)
    call.state = "done"
    return web.json_response(performance.answer_at_once())


async def _stream(request: web.Request, performance: Performance) -> web.StreamResponse:
    call = performance.call
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    call.state = "left"  # unless it turns out otherwise
    try:
        await asyncio.sleep(performance.step.delay)
        await response.prepare(request)
        async for event in performance.events():
            await response.write(event)
        call.state = "done"
        await response.write_eof()
    except ScriptedBreak as scripted:
        call.state = "broken"
        if scripted.is_cut and request.transport is not None:
            request.transport.close()
    except (ConnectionError, TimeoutError):
        call.state = "left"
    finally:
        performance.count_usage()
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
        return make_error("`input` must be a text or a list of texts")
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


async def show(request: web.Request) -> web.Response:
    """List what came, oldest first: the `ledger` of chat requests with their tokens, chat `requests`, or `sound`."""
    script = request.app[SCRIPT]
    lists: dict[str, list[dict[str, Any]]] = {
        "ledger": [asdict(call) for call in script.calls],
        "requests": list(script.requests),
        "sound": list(script.sound_requests),
    }
    return web.json_response(lists[request.match_info["name"]])


async def change(request: web.Request) -> web.Response:
    """Add steps to the script, or answer 400 with what is wrong with them; for `reset`, clear it instead."""
    script = request.app[SCRIPT]
    if request.match_info["name"] == "reset":
        script.reset()
        return web.json_response({})
    try:
        script.steps.extend([Step.read(step) for step in await request.json()])
    except MALFORMED as wrong:
        return make_error(str(wrong))
    return web.json_response({})
