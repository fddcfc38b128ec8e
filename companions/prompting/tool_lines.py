"""Calls of tools and what they gave, as messages of a prompt: those of this turn, and what an earlier answer did."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from companions.conversations.messages import Spoken
from text.strings import neutral, shorten

# The tools by which something is done, and not only looked for or listed.
DEEDS = frozenset(
    {
        *("remember", "revise", "forget", "block_append", "block_replace", "note"),
        *("set_timer", "cancel_timer"),
    }
)
MAX_VALUE_CHARACTERS = 200  # of each argument, and of each part of what was given
ID_CHARACTERS = 9  # letters and digits: templates of Mistral's take no other length

Line = dict[str, object]


def compose_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return a call as it stands in the companion's message; its arguments are JSON."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def compose_tool_result(call_id: str, result: Mapping[str, Any]) -> Line:
    """Return what a tool gave, as the model is told."""
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": neutral(json.dumps(result, ensure_ascii=False)),
    }


def render_deeds(said: Spoken) -> list[Line]:
    """Return what the companion did before it said this: each call that was carried out, with what it gave behind it.

    Long texts in them are shortened. One call a message: some templates take no two.
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
