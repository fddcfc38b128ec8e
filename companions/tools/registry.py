"""The one registry of tools that a model may call, each with its handler."""

from datetime import datetime
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from companions.conversations.emotion_tags import without_tags
from companions.errors import TimerError
from companions.prompting.turn_prompt import tools_tokens
from companions.tools import core_memory_tools, lookup_tools, memory_tools, timer_tools, waking_tools
from companions.tools.bounds import AROUND_TOKENS, FULL, room, weight
from companions.tools.tool import ToolContext, ToolError
from memory.errors import CoreMemoryError
from memory.learning.secrets import holds_secret
from text.storable import is_storable

FAMILIES = (memory_tools, lookup_tools, core_memory_tools, timer_tools)
TOOLS = {tool.name: tool for family in FAMILIES for tool in family.TOOLS}
FIRST = (
    "remember",
    "recall",
    "set_timer",
    "search_conversation",
    "revise",
    "forget",
    "look_up",
)  # in a small context
ONLY_ASKED = {"revise", "forget"}  # for what the person asked in the talk: in a waking nobody asks
IN_WAKINGS = {name: tool for name, tool in TOOLS.items() if name not in ONLY_ASKED}
IN_WAKINGS |= {tool.name: tool for tool in waking_tools.TOOLS}
ASKING = {"recall", "look_up"}  # they ask a model for a vector, and only look: no transaction is to be open
KEEPING = {"remember", "revise", "block_append", "block_replace", "note", "set_timer"} | {
    "feel",
    "think",
    "write_diary",
    "pursue",
}
ERROR_CHARACTERS = 1500
NOT_KEPT = (
    "This looks like a password, a key or the number of a card: such things are not kept. Say so kindly."
)


def offered() -> list[dict[str, Any]]:
    """The tools in the form of the chat protocol: all, or the first that a small context has room for.

    The same list each time, not to be changed.
    """
    return _fitting(tools_tokens())


def offered_in_wakings() -> list[dict[str, Any]]:
    """The tools of a waking: those that are for wakings only as well, and none that waits for the person to ask."""
    return [*(one for one in offered() if one["function"]["name"] in IN_WAKINGS), *_living()]


@cache
def _fitting(tokens: int) -> list[dict[str, Any]]:
    chosen = set()
    for name in sorted(TOOLS, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        needed = weight(TOOLS[name].offer)
        if needed <= tokens:
            chosen.add(name)
            tokens -= needed
    return [tool.offer for name, tool in TOOLS.items() if name in chosen]


@cache
def _living() -> list[dict[str, Any]]:
    return [tool.offer for tool in waking_tools.TOOLS]


def call(context: ToolContext, name: str, arguments: str, now: datetime) -> dict[str, Any]:
    """What the tool gives back; an unknown name or wrong arguments give an `error` that the model can mend."""
    try:
        return _called(context, name, arguments, now)
    except ToolError as error:
        return {"error": str(error)[:ERROR_CHARACTERS]}
    except (CoreMemoryError, TimerError) as error:
        return {"error": str(error.detail)[:ERROR_CHARACTERS]}


def _called(context: ToolContext, name: str, arguments: str, now: datetime) -> dict[str, Any]:
    there = IN_WAKINGS if context.waking else TOOLS
    if name not in there:
        raise ToolError(f"There is no tool {name!r}. There are: {', '.join(there)}.")
    try:
        checked = there[name].arguments.model_validate_json(arguments or "{}")
    except ValidationError as error:
        raise ToolError("; ".join(map(_wrong, error.errors()))) from error
    checked = checked.model_copy(update=_without_tags(checked))
    if not all(map(is_storable, _texts(checked))):
        raise ToolError("arguments: not storable text")
    if name in KEEPING and _holds_secret(checked):
        raise ToolError(NOT_KEPT)
    if not room(context):
        raise ToolError(FULL)
    result = there[name].handler(context, checked, now)
    return (
        result
        if weight(result) <= room(context) + AROUND_TOKENS
        else {"done": True, "too_long_to_show": True}
    )


def _without_tags(arguments: BaseModel) -> dict[str, str]:
    """The texts in which the model told its emotions, as they are to be kept; ToolError where nothing else stands."""
    given = {name: value for name, value in arguments if isinstance(value, str)}
    said = {name: text for name, value in given.items() if (text := without_tags(value)) != value}
    if empty := [name for name, text in said.items() if not text.strip()]:
        raise ToolError(f"{empty[0]}: is empty")
    return said


def _texts(arguments: BaseModel) -> list[str]:
    return [value for value in arguments.model_dump().values() if isinstance(value, str)]


def _holds_secret(arguments: BaseModel) -> bool:
    """Whether what is to be kept does, read with the name of the slot that it is for: "door code: 4711"."""
    kept = arguments.model_dump(include={"slot", "text", "new", "note"})
    return holds_secret(": ".join(value for _name, value in sorted(kept.items()) if value))


def _wrong(error: Any) -> str:
    return f"{'.'.join(map(str, error['loc'])) or 'arguments'}: {error['msg']}"
