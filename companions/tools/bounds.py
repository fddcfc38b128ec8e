"""How much tools may take and give: what is left of the context beside the answer, and at most an eighth of it."""

import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from companions.prompting.turn_prompt import tools_tokens
from companions.tools.tool import ToolContext
from providers.chat.events import ToolCall
from providers.tokens import estimate, estimate_messages
from text.storable import storable

AROUND_TOKENS = 40  # the names around what is given
CUT = " … (cut)"
FULL = "There is no room for more in this turn. Answer with what you have."
LIVING_TOKENS = 750  # what the tools take that are for wakings only


def bounded(call: ToolCall) -> ToolCall:
    """The call as it can be kept: what is longer or no text is cut, and the tool will say what is wrong with it."""
    most = settings.TOOL_CHARACTERS
    return ToolCall(storable(call.id[:200]), storable(call.name[:100]), storable(call.arguments[:most]))


def room(context: ToolContext) -> int:
    """How many tokens a tool may give now, none in a full context."""
    most: int = settings.CONTEXT_TOKENS
    offered = tools_tokens() + (LIVING_TOKENS if context.waking else 0)
    left: int = most - settings.ANSWER_TOKENS - estimate_messages(context.prompt) - offered
    return max(min(left - AROUND_TOKENS, most_given(most)), 0)


def most_given(context_tokens: int) -> int:
    """How many tokens a tool gives at most at once."""
    return context_tokens // 8 - AROUND_TOKENS


def weight(value: object) -> int:
    """The tokens of a value as it is given to a model, about."""
    return estimate(json.dumps(value, ensure_ascii=False))


def fitting(entries: Sequence[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """The first of the entries that fit; where not even one does, it with its text cut."""
    kept: list[dict[str, Any]] = []
    left = tokens
    for one in entries:
        left -= weight(one)
        if left < 0:
            break
        kept.append(one)
    if not kept and entries and tokens > 2 * AROUND_TOKENS:
        return [{**entries[0], "text": shortened(str(entries[0]["text"]), tokens - 2 * AROUND_TOKENS)}]
    return kept


def shortened(text: str, tokens: int) -> str:
    """The text, or as much of its beginning as fits, with a mark that more follows."""
    if weight(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if weight(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low] + CUT


TOO_LONG = (
    "arguments: too long, so nothing was done. Call again with at most {words} words, in parts if need be."
)


def put(context: ToolContext, calls: Sequence[ToolCall]) -> list[str]:
    """Of each call what is wrong, where its arguments do not fit, else nothing; all stand in the prompt then.

    What does not fit stands there without its arguments, and is not to be carried out.
    """
    wire: list[dict[str, Any]] = []
    context.prompt.append({"role": "assistant", "content": None, "tool_calls": wire})
    return [_put(context, wire, one) for one in calls]


def _put(context: ToolContext, wire: list[dict[str, Any]], call: ToolCall) -> str:
    left = room(context)
    fits = estimate(call.arguments) <= left
    function = {"name": call.name, "arguments": call.arguments if fits else "{}"}
    wire.append({"id": call.id, "type": "function", "function": function})
    if fits:
        return ""
    return TOO_LONG.format(words=left // 2) if left > AROUND_TOKENS else FULL
