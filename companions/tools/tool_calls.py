"""The calls that a model makes go into its next request: as far as their arguments fit."""

from collections.abc import Sequence
from typing import Any

from companions.tools.bounds import AROUND_TOKENS, room
from companions.tools.registry import FULL
from companions.tools.tool_context import ToolContext
from providers.chat.events import ToolCall
from providers.tokens import estimate

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
