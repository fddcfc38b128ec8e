"""The rehearsal model's HTTP server; /control/* is how a test scripts it and sees what it was sent."""

import asyncio
import base64
import hashlib
import math
import struct
from json import JSONDecodeError
from typing import Any

from aiohttp import web

from providers.rehearsal import sound
from providers.rehearsal.prompt import find_task, read_last_asked, read_talk
from providers.rehearsal.script import Script, SoundStep, Step
from providers.rehearsal.state import STATE, State
from providers.rehearsal.stream import Call, Performance, ScriptedBreak, make_error, refuse
from providers.rehearsal.words import count_terms
from providers.tokens import estimate, estimate_messages

MODEL, EMBEDDING_MODEL = "rehearsal", "rehearsal-embedding"
EMBEDDING_WIDTH = 256
MAX_REQUEST_BYTES = 32 * 1024 * 1024
MALFORMED = (JSONDecodeError, KeyError, TypeError, ValueError, AttributeError)


def build_app(state: State, *, is_scriptable: bool) -> web.Application:
    """Return the whole server; /control/* only where it is scriptable."""
    app = web.Application(client_max_size=MAX_REQUEST_BYTES)
    app[STATE] = state
    app.add_routes(
        [
            web.get("/health", tell_health),
            web.get("/v1/models", list_models),
            web.post("/v1/chat/completions", complete),
            web.post("/v1/embeddings", embed_texts),
            web.post("/v1/audio/speech", sound.speak),
            web.get("/v1/audio/voices", sound.list_voices),
            web.post("/v1/audio/transcriptions", sound.transcribe),
        ]
    )
    if is_scriptable:
        app.add_routes(
            [
                web.post("/control/script", add_steps),
                web.post("/control/sound", add_sound_steps),
                web.get("/control/sound", list_sound_requests),
                web.post("/control/reset", reset),
                web.get("/control/ledger", list_calls),
                web.get("/control/requests", list_requests),
            ]
        )
    return app


async def tell_health(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def list_models(_request: web.Request) -> web.Response:
    names = (MODEL, EMBEDDING_MODEL)
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "kith"} for name in names]
    return web.json_response({"object": "list", "data": data})


async def complete(request: web.Request) -> web.StreamResponse:
    """Answer one chat request, in a stream where it asks for one."""
    state = request.app[STATE]
    try:
        body = await request.json()
        messages = body["messages"]
        prompt_tokens = estimate_messages(messages, body.get("tools") or [])
    except MALFORMED:
        return make_error("`messages` is missing or malformed")
    state.requests.append(body)
    task = find_task(body)
    question = read_last_asked(messages) if task else read_talk(messages).question
    step = state.script.take(question, task) or Step()
    state.served += 1
    call = Call(f"rehearsal-{state.served}", body.get("model") or MODEL, prompt_tokens)
    call.peer_port = request.get_extra_info("peername", ("", 0))[1]
    state.ledger.append(call)
    if refused := refuse(step, body):
        call.state = "refused"
        return refused
    performance = Performance(body, step, call, state.pause_seconds)
    if body.get("stream"):
        return await _stream(request, performance)
    call.state = "done"
    return web.json_response(performance.answer_at_once())


async def _stream(request: web.Request, performance: Performance) -> web.StreamResponse:
    call = performance.call
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    call.state = "left"
    try:
        await asyncio.sleep(performance.step.delay_before)
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
    """Return a vector of length 1: each word adds to the place that its digest names, with its digest's sign."""
    vector = [0.0] * width
    for term, count in (count_terms(text) or {text: 1}).items():
        digest = hashlib.blake2b(term.encode(), digest_size=8).digest()
        vector[int.from_bytes(digest[:7], "big") % width] += count if digest[7] % 2 else -count
    length = math.hypot(*vector)
    if not length:  # two words met in one place with opposite signs
        vector[0] = length = 1.0
    return [value / length for value in vector]


async def embed_texts(request: web.Request) -> web.Response:
    """Answer one request with a vector for each text, as floats or in base64."""
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


async def add_steps(request: web.Request) -> web.Response:
    """Add steps for chat requests, or answer 400 with what is wrong with them."""
    return await _add_steps(request, Step, request.app[STATE].script)


async def add_sound_steps(request: web.Request) -> web.Response:
    """Add steps for requests for sound, or answer 400 with what is wrong with them."""
    return await _add_steps(request, SoundStep, request.app[STATE].sound_script)


async def _add_steps(request: web.Request, kind: type[Any], script: Script[Any]) -> web.Response:
    try:
        script.steps.extend([kind.read(step) for step in await request.json()])
    except MALFORMED as wrong:
        return make_error(str(wrong))
    return web.json_response({"steps": len(script.steps)})


async def reset(request: web.Request) -> web.Response:
    """Forget the scripts, the ledger and the requests."""
    state = request.app[STATE]
    for known in (
        state.script.steps,
        state.ledger,
        state.requests,
        state.sound_script.steps,
        state.sound_requests,
    ):
        known.clear()
    return web.json_response({})


async def list_calls(request: web.Request) -> web.Response:
    """List every chat request with the tokens counted for it, oldest first."""
    return web.json_response({"calls": [call.as_json() for call in request.app[STATE].ledger]})


async def list_requests(request: web.Request) -> web.Response:
    """List the last chat requests as they came, oldest first."""
    return web.json_response({"requests": list(request.app[STATE].requests)})


async def list_sound_requests(request: web.Request) -> web.Response:
    """List the last requests for sound as they came, oldest first."""
    return web.json_response({"requests": list(request.app[STATE].sound_requests)})
