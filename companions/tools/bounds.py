"""Limits on tool calls and results: what the context has left beside the answer, and at most an eighth of it."""

import json
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from companions.prompting.history import compose_call
from companions.tools.tool import ToolContext
from providers.chat.events import ToolCall
from providers.selection import get_provider
from providers.tokens import estimate, estimate_messages
from text.strings import neutral, storable

OVERHEAD_TOKENS = 40  # the keys around a result
CUT = " … (cut)"
FULL = "There is no room for more in this turn. Answer with what you have."
TOO_LONG = (
    "arguments: too long, so nothing was done. Call again with at most {words} words, in parts if need be."
)


def count_tokens(value: object) -> int:
    """Return about how many tokens a value takes as JSON."""
    return estimate(json.dumps(value, ensure_ascii=False))


def count_tokens_left(context: ToolContext) -> int:
    """Return how many tokens a tool's result may take now: at most an eighth of the context, 0 if that is full."""
    provider = get_provider()
    size = provider.context_tokens
    left = size - provider.answer_tokens - estimate_messages(context.prompt) - context.offered_tokens
    return max(min(left, size // 8) - OVERHEAD_TOKENS, 0)


def take_fitting(entries: Sequence[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """Return the first entries that fit; if none does, the first with its text cut, unless `tokens` are too few."""
    kept: list[dict[str, Any]] = []
    left = tokens
    for entry in entries:
        left -= count_tokens(entry)
        if left < 0:
            break
        kept.append(entry)
    if not kept and entries and tokens > 2 * OVERHEAD_TOKENS:
        return [{**entries[0], "text": cut(str(entries[0]["text"]), tokens - 2 * OVERHEAD_TOKENS)}]
    return kept


def cut(text: str, tokens: int) -> str:
    """Return the text, or as much of its beginning as has so many tokens, with the mark CUT added."""
    if count_tokens(text) <= tokens:
        return text
    length = bisect_right(range(1, len(text)), tokens, key=lambda length: count_tokens(text[:length]))
    return text[:length] + CUT


def cut_call(call: ToolCall) -> ToolCall:
    """Return the call as it can be stored: cut to length, without unstorable characters. The tool reports any error."""
    arguments = storable(call.arguments[: settings.TOOL_CHARACTERS])
    return ToolCall(storable(call.id[:200]), storable(call.name[:100]), arguments)


def add_calls(context: ToolContext, calls: Sequence[ToolCall], said: str = "") -> list[str]:
    """Append what was said and the tool calls after it to the prompt; return for each call why it is refused, or "".

    A call whose arguments do not fit into the context is refused, and appended without them.
    """
    wire: list[dict[str, Any]] = []
    context.prompt.append({"role": "assistant", "content": neutral(said.strip()) or None, "tool_calls": wire})
    refusals = []
    for call in calls:
        left = count_tokens_left(context)
        fits = estimate(call.arguments) <= left
        wire.append(compose_call(call.id, call.name, call.arguments if fits else "{}"))
        too_long = TOO_LONG.format(words=left // 2) if left > OVERHEAD_TOKENS else FULL
        refusals.append("" if fits else too_long)
    return refusals
