"""One chat request's answer in the OpenAI protocol, as scripted or as in ordinary use, played in time."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from aiohttp import web

from providers.chat.events import ToolCall
from providers.rehearsal.forms import TASKS, write_form
from providers.rehearsal.prompt import find_task
from providers.rehearsal.script import Step
from providers.rehearsal.talk import answer, echo, show_emotion
from providers.tokens import estimate_answer

HANG_SECONDS = 600.0
# Words, and runs of up to three Chinese characters; joined they are the text.
PIECES = re.compile(
    r"\s*(?:[\u3040-\u30ff\u3400-\u9fff,。!?:“”、]{1,3}|[^\s\u3040-\u30ff\u3400-\u9fff]+)|\s+$"
)
ARGUMENT_CHARACTERS = 8
PAGE = "<!doctype html><title>Sign in</title><p>Welcome to the proxy"


@dataclass
class Call:
    """One chat request in the ledger, with the tokens that the server counted itself."""

    id: str
    model: str
    prompt_tokens: int
    peer_port: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    state: str = "open"  # then done, broken (as scripted), refused or left (by the client)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class ScriptedBreak(Exception):
    """The script wants the stream broken here; `is_cut` where the connection itself is."""

    def __init__(self, *, is_cut: bool) -> None:
        self.is_cut = is_cut
        super().__init__()


class Performance:
    """What is said to one request; `said` grows while it is streamed."""

    def __init__(self, body: dict[str, Any], step: Step, call: Call, pause_seconds: float) -> None:
        self.body, self.step, self.call = body, step, call
        self.pause_seconds = pause_seconds if step.delay_between is None else step.delay_between
        self.said: list[str] = []
        self.head = {"id": call.id, "object": "chat.completion.chunk", "created": 0, "model": call.model}
        self.pieces, self.calls = self._plan()

    def _plan(self) -> tuple[list[str], list[ToolCall]]:
        step, messages, task = self.step, self.body.get("messages", []), find_task(self.body)
        calls = list(_read_calls(step.tool_calls or []))
        if step.pieces is not None:
            return step.pieces, calls
        if step.answer is not None or calls or step.count or step.events is not None:
            return PIECES.findall(step.answer or ""), calls
        if task in TASKS:
            return PIECES.findall(write_form(task, messages, swallows=step.parrots)), []
        if step.parrots and (text := echo(messages)):
            return PIECES.findall(text), []
        text, calls = answer(messages, self.body.get("tools") or [])
        pieces = PIECES.findall(text)
        return [show_emotion(text, messages) + pieces[0], *pieces[1:]] if pieces else [], calls

    def count_usage(self) -> Any:
        """Return the tokens so far as the protocol tells them, or what the script wants told; false for none."""
        call, told = self.call, self.step.usage
        call.completion_tokens = estimate_answer("".join(self.said), self.step.thought, self.calls)
        if isinstance(told, dict):
            call.prompt_tokens, call.completion_tokens = told["prompt_tokens"], told["completion_tokens"]
            call.cached_tokens = (told.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        if told is not True:
            return told
        counts = {"prompt_tokens": call.prompt_tokens, "completion_tokens": call.completion_tokens}
        return counts | {"total_tokens": sum(counts.values())}

    def answer_at_once(self) -> dict[str, Any]:
        """Return the whole answer to a request that does not stream."""
        self.said = self.pieces
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.said) or None}
        if self.step.thought:
            message["reasoning_content"] = self.step.thought
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.calls
            ]
        finish = "tool_calls" if self.calls else "stop"
        head = self.head | {"object": "chat.completion", "usage": self.count_usage()}
        whole = head | {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
        return {name: value for name, value in whole.items() if value is not False}

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the stream's events, each when its time has come."""
        if self.step.events is not None:
            for event in self.step.events:
                yield event.encode() if isinstance(event, str) else _encode(event)
                await asyncio.sleep(self.pause_seconds)
            return
        yield self._encode_delta({"role": "assistant", "content": ""})
        async for change in self._changes():
            yield self._encode_delta(change)
        finish = self.step.finish_reason or ("tool_calls" if self.calls else "stop")
        yield self._encode_delta({}, finish)
        usage = self.count_usage()
        if usage is not False and (self.body.get("stream_options") or {}).get("include_usage"):
            yield _encode(self.head | {"choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    async def _changes(self) -> AsyncIterator[dict[str, Any]]:
        if self.step.empty_delta:
            yield {}
        if self.step.null_content:
            yield {"role": "assistant", "content": None}
        for part in PIECES.findall(self.step.thought):
            yield {"reasoning_content": part}
            await asyncio.sleep(self.pause_seconds)
        async for piece in self._play():
            self.said.append(piece)
            yield {"content": piece}
        for index, call in enumerate(self.calls):
            function = {"name": call.name, "arguments": ""}
            yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
            for at in range(0, len(call.arguments), ARGUMENT_CHARACTERS):
                part = call.arguments[at : at + ARGUMENT_CHARACTERS]
                yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
                await asyncio.sleep(self.pause_seconds)

    async def _play(self) -> AsyncIterator[str]:
        for at, piece in enumerate(self.pieces):
            await self._break_at(at)
            yield piece
            await asyncio.sleep(self.pause_seconds)
        await self._break_at(len(self.pieces))
        began = time.monotonic()
        for at in range(self.step.count):
            due = began + (at / self.step.rate if self.step.rate else 0)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            yield f"{time.time_ns()} "

    async def _break_at(self, at: int) -> None:
        if self.step.hang_after == at:
            await asyncio.sleep(HANG_SECONDS)
        if at in (self.step.cut_after, self.step.end_after):
            raise ScriptedBreak(is_cut=self.step.cut_after == at)

    def _encode_delta(self, change: dict[str, Any], finish: str | None = None) -> bytes:
        return _encode(self.head | {"choices": [{"index": 0, "delta": change, "finish_reason": finish}]})


def _encode(event: object) -> bytes:
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _read_calls(given: list[dict[str, Any]]) -> Iterator[ToolCall]:
    for at, call in enumerate(given):
        arguments = call.get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        yield ToolCall(call.get("id", f"call_{at}"), call["name"], text)


def refuse(step: Step, body: dict[str, Any]) -> web.Response | None:
    """Return the error that the script wants in place of an answer, if it wants one."""
    if step.html:
        return web.Response(text=PAGE, content_type="text/html")
    refusals = {
        "stream_options": (
            step.refuse_stream_options,
            "Unrecognized request argument supplied: stream_options",
        ),
        "response_format": (
            step.refuse_response_format,
            "This model does not support the parameter response_format",
        ),
        "tools": (step.refuse_tools, f"{body.get('model')} does not support tools"),
    }
    for part, (is_refused, message) in refusals.items():
        if is_refused and body.get(part):
            return make_error(message)
    if step.error is None:
        return None
    said = step.error.get("body", {"error": {"message": "scripted error"}})
    text = said if isinstance(said, str) else json.dumps(said)
    kind = "text/plain" if isinstance(said, str) else "application/json"
    return web.Response(
        status=step.error["status"], text=text, content_type=kind, headers=step.error.get("headers")
    )


def make_error(message: str) -> web.Response:
    """Return what a server answers to a request that it does not understand."""
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=400)
