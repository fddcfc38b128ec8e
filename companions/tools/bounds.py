"""How much tools may take and give: what is left of the context beside the answer, and at most an eighth of it."""

import json
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from companions.prompting.tool_lines import compose_call
from companions.tools.tool import ToolContext
from providers.chat.events import ToolCall
from providers.selection import get_provider
from providers.tokens import estimate, estimate_messages
from text.strings import neutral, storable

OVERHEAD_TOKENS = 40  # the names around what is given
CUT = " … (cut)"
FULL = "There is no room for more in this turn. Answer with what you have."
TOO_LONG = (
    "arguments: too long, so nothing was done. Call again with at most {words} words, in parts if need be."
)


def count_tokens(value: object) -> int:
    """Return the tokens of a value as it is given to a model, about."""
    return estimate(json.dumps(value, ensure_ascii=False))


def count_tokens_left(context: ToolContext) -> int:
    """Return how many tokens a tool may give now, none in a full context."""
    size = get_provider().context_tokens
    left: int = size - settings.ANSWER_TOKENS - estimate_messages(context.prompt) - context.offered_tokens
    return max(min(left, size // 8) - OVERHEAD_TOKENS, 0)


def take_fitting(entries: Sequence[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """Return the first of the entries that fit; where not even one does, it with its text cut."""
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
    """Return the text, or as much of its beginning as fits, with a mark that more follows."""
    if count_tokens(text) <= tokens:
        return text
    length = bisect_right(range(1, len(text)), tokens, key=lambda length: count_tokens(text[:length]))
    return text[:length] + CUT


def cut_call(call: ToolCall) -> ToolCall:
    """Return the call as it can be kept: what is longer or no text is cut, and the tool will say what is wrong."""
    arguments = storable(call.arguments[: settings.TOOL_CHARACTERS])
    return ToolCall(storable(call.id[:200]), storable(call.name[:100]), arguments)


def add_calls(context: ToolContext, calls: Sequence[ToolCall], said: str = "") -> list[str]:
    """Put what was said and the calls after it into the prompt; return for each call why it must not be carried out.

    That is nothing where it may be. A call whose arguments do not fit stands in the prompt without them.
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
