"""Tool calls and their results as messages of a prompt: those of the present turn and of earlier answers."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from companions.conversations.messages import Spoken
from text.strings import neutral, shorten

# The tools that change something, unlike those that only search or list. `revise` is the former name of `remember`.
DEEDS = frozenset(
    {
        *("remember", "revise", "forget", "block_append", "block_replace", "note"),
        *("set_timer", "cancel_timer"),
    }
)
MAX_VALUE_CHARACTERS = 200  # of each argument, and of each part of a result
ID_CHARACTERS = 9  # letters and digits: Mistral's chat templates accept no other length

Line = dict[str, object]


def compose_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return a tool call as it stands in an assistant message; `arguments` is a JSON string."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def compose_tool_result(call_id: str, result: Mapping[str, Any]) -> Line:
    """Return a tool's result as a message to the model."""
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": neutral(json.dumps(result, ensure_ascii=False)),
    }


def render_deeds(said: Spoken) -> list[Line]:
    """Return the tool calls that succeeded and changed something before the message was said, each with its result.

    Long texts in them are shortened. Each message holds one call, since some chat templates accept only one.
    """
    lines: list[Line] = []
    for number, (name, arguments, result) in enumerate(_choose_deeds(said)):
        call_id = f"{said.pk.hex[: ID_CHARACTERS - 2]}{number:02}"
        call = compose_call(call_id, name, neutral(json.dumps(arguments, ensure_ascii=False)))
        lines.append({"role": "assistant", "content": None, "tool_calls": [call]})
        lines.append(compose_tool_result(call_id, result))
    return lines


def _choose_deeds(said: Spoken) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for call in said.calls:
        if call["name"] in DEEDS and "error" not in call["result"]:
            yield call["name"], _shorten(json.loads(call["arguments"])), _shorten(call["result"])


def _shorten(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: shorten(value, MAX_VALUE_CHARACTERS) if isinstance(value, str) else value
        for name, value in values.items()
    }
