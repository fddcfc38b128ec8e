"""One request's answer, as scripted or as in ordinary use, played in time."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from providers.pieces import ToolCall
from providers.rehearsal import parroting, showing, structured, wire
from providers.rehearsal.answering import answer
from providers.rehearsal.script import Step
from providers.rehearsal.state import Call, State
from providers.tokens import estimate_answer

LONGEST_HANG_SECONDS = 600.0


class Broken(Exception):
    """The script wants the stream broken here; `is_cut` where the connection itself is."""

    def __init__(self, *, is_cut: bool) -> None:
        self.is_cut = is_cut
        super().__init__()


@dataclass
class Performance:
    """What is said to one request; `said` grows while it is streamed."""

    state: State
    body: dict[str, Any]
    step: Step
    call: Call
    said: list[str] = field(default_factory=list)
    thought: str = ""
    calls: list[ToolCall] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.head = {
            "id": self.call.id,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.call.model,
        }
        self.pieces, self.calls = self._planned()

    def _planned(self) -> tuple[list[str], list[ToolCall]]:
        step = self.step
        given = step.tool_calls or []
        calls = [
            ToolCall(call.get("id", f"call_{at}"), call["name"], _json(call)) for at, call in enumerate(given)
        ]
        if step.pieces is not None:
            return step.pieces, calls
        if step.answer is not None or calls or step.count or step.events is not None:
            return wire.split(step.answer or ""), calls
        messages, task = self.body.get("messages", []), structured.task_of(self.body)
        if task in structured.TASKS:
            write = parroting.swallowed if step.parrots else structured.form
            return wire.split(write(task, messages)), []
        if step.parrots and (text := parroting.parroted(messages)):
            return wire.split(text), []
        text, calls = answer(messages, self.body.get("tools") or [])
        pieces = wire.split(text)
        return [showing.tag(text, messages) + pieces[0], *pieces[1:]] if pieces else [], calls

    def usage(self) -> Any:
        """The tokens so far as the protocol tells them, or what the script wants told; false for none."""
        self.call.completion_tokens = estimate_answer("".join(self.said), self.thought, self.calls)
        if isinstance(self.step.usage, dict):
            told = self.step.usage
            self.call.prompt_tokens, self.call.completion_tokens = (
                told["prompt_tokens"],
                told["completion_tokens"],
            )
            self.call.cached_tokens = (told.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        if self.step.usage is not True:
            return self.step.usage
        prompt, completion = self.call.prompt_tokens, self.call.completion_tokens
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}

    def in_one(self) -> dict[str, Any]:
        """The whole answer to a request that does not stream."""
        self.said, self.thought = self.pieces, self.step.thought
        head = self.head | {"object": "chat.completion"}
        return wire.whole(head, "".join(self.said), self.thought, self.calls, self.usage())

    async def events(self) -> AsyncIterator[bytes]:
        """The stream's events, each when its time has come."""
        for raw in self.step.events or ():
            yield wire.event(raw)
            await self._pause()
        if self.step.events is not None:
            return
        yield wire.event(wire.delta(self.head, {"role": "assistant", "content": ""}))
        async for change in self._changes():
            yield wire.event(wire.delta(self.head, change))
        finish = self.step.finish_reason or ("tool_calls" if self.calls else "stop")
        yield wire.event(wire.delta(self.head, {}, finish))
        async for told in self._closing():
            yield told

    async def _closing(self) -> AsyncIterator[bytes]:
        usage = self.usage()
        if usage is not False and (self.body.get("stream_options") or {}).get("include_usage"):
            yield wire.event(self.head | {"choices": [], "usage": usage})
        yield wire.DONE

    async def _changes(self) -> AsyncIterator[dict[str, Any]]:
        step = self.step
        if step.empty_delta:
            yield {}
        if step.null_content:
            yield {"role": "assistant", "content": None}
        for part in wire.split(step.thought):
            self.thought += part
            yield {"reasoning_content": part}
            await self._pause()
        async for piece in self._played():
            self.said.append(piece)
            yield {"content": piece}
        for change in wire.call_deltas(self.calls):
            yield change
            await self._pause()

    async def _played(self) -> AsyncIterator[str]:
        for at, piece in enumerate(self.pieces):
            await self._break_at(at)
            yield piece
            await self._pause()
        await self._break_at(len(self.pieces))
        begin = time.monotonic()
        for at in range(self.step.count):
            late = time.monotonic() - begin - (at / self.step.rate if self.step.rate else 0)
            await asyncio.sleep(max(0.0, -late))
            yield f"{time.time_ns()} "

    async def _pause(self) -> None:
        between = self.step.delay_between
        seconds = self.state.seconds_between if between is None else between
        if seconds:
            await asyncio.sleep(seconds)

    async def _break_at(self, at: int) -> None:
        if self.step.hang_after == at:
            await asyncio.sleep(LONGEST_HANG_SECONDS)
        if self.step.cut_after == at:
            raise Broken(is_cut=True)
        if self.step.end_after == at:
            raise Broken(is_cut=False)


def _json(call: dict[str, Any]) -> str:
    arguments = call.get("arguments", {})
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def refusal(step: Step, body: dict[str, Any]) -> web.Response | None:
    """The error that the script wants in place of an answer, if it wants one."""
    if step.html:
        return web.Response(
            text="<!doctype html><title>Sign in</title><p>Welcome to the proxy", content_type="text/html"
        )
    if step.refuse_stream_options and body.get("stream_options"):
        return _error(400, "Unrecognized request argument supplied: stream_options")
    if step.refuse_response_format and body.get("response_format"):
        return _error(400, "This model does not support the parameter response_format")
    if step.refuse_tools and body.get("tools"):
        return _error(400, f"{body.get('model')} does not support tools")
    if step.error is None:
        return None
    said = step.error.get("body", {"error": {"message": "scripted error"}})
    text = said if isinstance(said, str) else json.dumps(said)
    kind = "text/plain" if isinstance(said, str) else "application/json"
    headers = step.error.get("headers")
    return web.Response(status=step.error["status"], text=text, content_type=kind, headers=headers)


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)
