"""One chat request's answer in OpenAI's form, scripted or not, streamed with pauses."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

from providers.chat.events import ToolCall
from providers.rehearsal.forms import TASKS, write_form
from providers.rehearsal.prompt import find_task
from providers.rehearsal.script import Call, Step
from providers.rehearsal.talk import answer, echo, show_emotion
from providers.tokens import estimate_answer

HANG_SECONDS = 600.0
# Words, and runs of up to three Chinese characters; joined, the matches are the text.
PIECES = re.compile(
    r"\s*(?:[\u3040-\u30ff\u3400-\u9fff,。!?:“”、]{1,3}|[^\s\u3040-\u30ff\u3400-\u9fff]+)|\s+$"
)
ARGUMENT_CHARACTERS = 8


class ScriptedBreak(Exception):
    """The script wants the stream to end here; with `is_cut`, by closing the connection."""

    def __init__(self, *, is_cut: bool) -> None:
        self.is_cut = is_cut
        super().__init__()


class Performance:
    """The answer to one request; `said` holds the pieces that were streamed so far."""

    def __init__(self, body: dict[str, Any], step: Step, call: Call, pause_seconds: float) -> None:
        self.body, self.step, self.call = body, step, call
        self.pause_seconds = pause_seconds if step.delay_between is None else step.delay_between
        self.said: list[str] = []
        self._head = {"id": call.id, "created": 0, "model": call.model}
        self._pieces, self._calls = self._plan()

    def _plan(self) -> tuple[list[str], list[ToolCall]]:
        step, messages, task = self.step, self.body["messages"], find_task(self.body)
        calls = [
            ToolCall(call.get("id", f"call_{at}"), call["name"], _write_arguments(call.get("arguments", {})))
            for at, call in enumerate(step.tool_calls or [])
        ]
        if step.pieces is not None:
            return step.pieces, calls
        if step.answer is not None or calls or step.events is not None:
            return PIECES.findall(step.answer or ""), calls
        if task in TASKS:
            return PIECES.findall(write_form(task, messages, swallows=step.parrots)), []
        if step.parrots and (text := echo(messages)):
            return PIECES.findall(text), []
        text, calls = answer(messages, self.body.get("tools") or [])
        pieces = PIECES.findall(text)
        return [show_emotion(text, messages) + pieces[0], *pieces[1:]] if pieces else [], calls

    def count_usage(self) -> Any:
        """Return the usage so far in OpenAI's form, or what the script wants reported; False for nothing."""
        call, told = self.call, self.step.usage
        call.completion_tokens = estimate_answer("".join(self.said), self.step.thought, self._calls)
        if isinstance(told, dict):
            call.prompt_tokens, call.completion_tokens = told["prompt_tokens"], told["completion_tokens"]
            call.cached_tokens = (told.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        if told is not True:
            return told
        counts = {"prompt_tokens": call.prompt_tokens, "completion_tokens": call.completion_tokens}
        return counts | {"total_tokens": sum(counts.values())}

    def answer_at_once(self) -> dict[str, Any]:
        """Return the whole answer to a request that does not stream."""
        self.said = self._pieces
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self._calls
        ]
        message = {"role": "assistant", "content": "".join(self.said) or None, "tool_calls": calls or None}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        return self._head | {"object": "chat.completion", "choices": [choice], "usage": self.count_usage()}

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the stream's events, with the pauses between them."""
        if self.step.events is not None:
            for event in self.step.events:
                yield event.encode() if isinstance(event, str) else _encode(event)
                await asyncio.sleep(self.pause_seconds)
            return
        yield self._encode_delta({"role": "assistant", "content": ""})
        async for delta in self._deltas():
            yield self._encode_delta(delta)
        finish = self.step.finish_reason or ("tool_calls" if self._calls else "stop")
        yield self._encode_delta({}, finish)
        usage = self.count_usage()
        if usage is not False and (self.body.get("stream_options") or {}).get("include_usage"):
            yield _encode(self._head | {"choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    async def _deltas(self) -> AsyncIterator[dict[str, Any]]:
        for part in PIECES.findall(self.step.thought):
            yield {"reasoning_content": part}
            await asyncio.sleep(self.pause_seconds)
        for at, piece in enumerate(self._pieces):
            await self._break_at(at)
            self.said.append(piece)
            yield {"content": piece}
            await asyncio.sleep(self.pause_seconds)
        await self._break_at(len(self._pieces))
        for index, call in enumerate(self._calls):
            function = {"name": call.name, "arguments": ""}
            yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
            for at in range(0, len(call.arguments), ARGUMENT_CHARACTERS):
                part = call.arguments[at : at + ARGUMENT_CHARACTERS]
                yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
                await asyncio.sleep(self.pause_seconds)

    async def _break_at(self, at: int) -> None:
        if self.step.hang_after == at:
            await asyncio.sleep(HANG_SECONDS)
        if at in (self.step.cut_after, self.step.end_after):
            raise ScriptedBreak(is_cut=self.step.cut_after == at)

    def _encode_delta(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _encode(self._head | {"object": "chat.completion.chunk", "choices": [choice]})


def _encode(event: object) -> bytes:
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _write_arguments(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
