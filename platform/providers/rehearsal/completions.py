"""POST /v1/chat/completions."""

import asyncio
from json import JSONDecodeError

from aiohttp import web

from providers.rehearsal import scene, structured
from providers.rehearsal.performance import Broken, Performance, refusal
from providers.rehearsal.script import Step
from providers.rehearsal.state import STATE, Call, State
from providers.tokens import estimate_messages

ENDED = (ConnectionError, TimeoutError)


async def complete(request: web.Request) -> web.StreamResponse:
    """Answer one chat request, in a stream where it asks for one."""
    state = request.app[STATE]
    try:
        body = await request.json()
        messages = body["messages"]
        prompt_tokens = estimate_messages(messages, body.get("tools") or [])
    except (JSONDecodeError, KeyError, TypeError, AttributeError):
        return web.json_response({"error": {"message": "`messages` is missing or malformed"}}, status=400)
    state.requests.append(body)
    task = structured.task_of(body)
    question = structured.material_of(messages) if task else scene.read(messages).question
    step = state.script.next_for(question, task) or Step()
    call = _entered(state, body.get("model") or state.model, prompt_tokens)
    call.peer_port = request.get_extra_info("peername", ("", 0))[1]
    refused = refusal(step, body)
    if refused is not None:
        call.state = "refused"
        return refused
    performance = Performance(state, body, step, call)
    if body.get("stream"):
        return await _stream(request, performance)
    call.state = "done"
    return web.json_response(performance.in_one())


def _entered(state: State, model: str, prompt_tokens: int) -> Call:
    state.served += 1
    call = Call(f"rehearsal-{state.served}", model, prompt_tokens)
    state.ledger.append(call)
    return call


async def _stream(request: web.Request, performance: Performance) -> web.StreamResponse:
    call = performance.call
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    call.state = "left"
    if performance.step.delay_before:
        await asyncio.sleep(performance.step.delay_before)
    try:
        await response.prepare(request)
        async for event in performance.events():
            await response.write(event)
        call.state = "done"
        await response.write_eof()
    except Broken as broken:
        call.state = "broken"
        if broken.is_cut and request.transport is not None:
            request.transport.close()
    except ENDED:
        call.state = "left"
    finally:
        performance.usage()
    return response
