"""One chat request's answer in OpenAI's form, streamed with pauses."""

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator
from typing import Any

from providers.chat.events import ToolCall
from providers.rehearsal.forms import TASKS, write_form
from providers.rehearsal.prompt import find_task
from providers.rehearsal.talk import answer, show_emotion
from providers.tokens import estimate_answer, estimate_messages

MODEL = "rehearsal"
# Words, and runs of up to three Chinese characters; joined, the matches are the text.
PIECES = re.compile(
    r"\s*(?:[\u3040-\u30ff\u3400-\u9fff,。!?:“”、]{1,3}|[^\s\u3040-\u30ff\u3400-\u9fff]+)|\s+$"
)
ARGUMENT_CHARACTERS = 8
NUMBERS = itertools.count(1)


class Performance:
    """The answer to one request; `said` holds the pieces that were streamed so far."""

    def __init__(self, body: dict[str, Any], pause_seconds: float) -> None:
        self.body, self.pause_seconds = body, pause_seconds
        self.prompt_tokens = estimate_messages(body["messages"], body.get("tools") or [])
        self.id, self.model = f"rehearsal-{next(NUMBERS)}", body.get("model") or MODEL
        self.said: list[str] = []
        self.pieces, self.calls = self.plan()

    def plan(self) -> tuple[list[str], list[ToolCall]]:
        """Return the pieces of the answer and its tool calls."""
        messages, task = self.body["messages"], find_task(self.body)
        if task in TASKS:
            return PIECES.findall(write_form(task, messages)), []
        text, calls = answer(messages, self.body.get("tools") or [])
        pieces = PIECES.findall(text)
        return [show_emotion(text, messages) + pieces[0], *pieces[1:]] if pieces else [], calls

    def count_usage(self) -> Any:
        """Return the usage so far in OpenAI's form."""
        received = estimate_answer("".join(self.said), "", self.calls)
        counts = {"prompt_tokens": self.prompt_tokens, "completion_tokens": received}
        return counts | {"total_tokens": sum(counts.values())}

    @property
    def finish_reason(self) -> str:
        return "tool_calls" if self.calls else "stop"

    def answer_at_once(self) -> dict[str, Any]:
        """Return the whole answer to a request that does not stream."""
        self.said = self.pieces
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.calls
        ]
        message = {"role": "assistant", "content": "".join(self.said) or None, "tool_calls": calls or None}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return self._head("chat.completion", [choice]) | {"usage": self.count_usage()}

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the stream's events, with the pauses between them."""
        yield self._encode_delta({"role": "assistant", "content": ""})
        async for delta in self.deltas():
            yield self._encode_delta(delta)
        yield self._encode_delta({}, self.finish_reason)
        if (self.body.get("stream_options") or {}).get("include_usage"):
            yield encode(self._head("chat.completion.chunk", []) | {"usage": self.count_usage()})
        yield b"data: [DONE]\n\n"

    async def deltas(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the changes that the events tell: the pieces, then the tool calls in parts."""
        async for piece in self.stream_pieces():
            self.said.append(piece)
            yield {"content": piece}
        for index, call in enumerate(self.calls):
            function = {"name": call.name, "arguments": ""}
            yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
            for at in range(0, len(call.arguments), ARGUMENT_CHARACTERS):
                part = call.arguments[at : at + ARGUMENT_CHARACTERS]
                yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
                await asyncio.sleep(self.pause_seconds)

    async def stream_pieces(self) -> AsyncIterator[str]:
        """Yield the pieces, with a pause after each."""
        for piece in self.pieces:
            yield piece
            await asyncio.sleep(self.pause_seconds)

    def _head(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": self.id, "created": 0, "model": self.model, "object": kind, "choices": choices}

    def _encode_delta(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return encode(self._head("chat.completion.chunk", [choice]))


def encode(event: object) -> bytes:
    """Return the event as one of a stream of server-sent events."""
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
