"""The OpenAI chat protocol as the rehearsal model writes it."""

import json
import re
from collections.abc import Sequence
from typing import Any

from providers.pieces import ToolCall

PIECES = re.compile(
    r"\s*(?:[\u3040-\u30ff\u3400-\u9fff,。!?:“”、]{1,3}|[^\s\u3040-\u30ff\u3400-\u9fff]+)|\s+$"
)
DONE = b"data: [DONE]\n\n"


def split(text: str) -> list[str]:
    """A text in small pieces: words, and runs of up to three Chinese characters; joined they are the text."""
    return PIECES.findall(text)


def event(data: object) -> bytes:
    """One server-sent event; a string is sent raw."""
    return (data if isinstance(data, str) else f"data: {json.dumps(data, ensure_ascii=False)}\n\n").encode()


def delta(head: dict[str, Any], change: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return head | {"choices": [{"index": 0, "delta": change, "finish_reason": finish}]}


def call_deltas(calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """Tool calls as they are streamed: the name first, then the arguments eight characters at a time."""
    changes = []
    for index, call in enumerate(calls):
        opening = {"name": call.name, "arguments": ""}
        changes.append({"index": index, "id": call.id, "type": "function", "function": opening})
        parts = [call.arguments[at : at + 8] for at in range(0, len(call.arguments), 8)]
        changes += [{"index": index, "function": {"arguments": part}} for part in parts]
    return [{"tool_calls": [change]} for change in changes]


def whole(
    head: dict[str, Any], text: str, thought: str, calls: Sequence[ToolCall], usage: object
) -> dict[str, Any]:
    """The answer to a request that does not stream."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if thought:
        message["reasoning_content"] = thought
    if calls:
        functions = [{"name": call.name, "arguments": call.arguments} for call in calls]
        ids = [call.id for call in calls]
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": function}
            for id_, function in zip(ids, functions, strict=True)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return head | {"choices": [choice]} | ({"usage": usage} if usage is not False else {})
