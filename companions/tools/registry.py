"""The registry of the tools that a model may call: which are offered, and how a call is carried out."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any

from django.db import transaction
from pydantic import AliasChoices, ValidationError
from pydantic.fields import FieldInfo

from companions.answers.emotion_tags import without_tags
from companions.answers.text_calls import ARGUMENTS
from companions.errors import TimerError
from companions.prompting.history import read_arguments
from companions.tools import more_tools
from companions.tools.bounds import FULL, OVERHEAD_TOKENS, count_tokens, count_tokens_left
from companions.tools.more_tools import GROUPS
from companions.tools.subjects import core_memory, lookup, memory, timers, waking
from companions.tools.tool import Tool, ToolContext, ToolError
from memory.errors import CoreMemoryError
from memory.learning.rules.secrets import holds_secret
from providers.selection import get_provider
from providers.tokens import keep_fitting
from text.strings import is_storable

MODULES = (memory, lookup, core_memory, timers, more_tools)
TOOLS: dict[str, type[Tool]] = {tool.name: tool for module in MODULES for tool in module.TOOLS}
WAKING_TOOLS = {name: tool for name, tool in TOOLS.items() if tool.in_wakings}
WAKING_TOOLS |= {tool.name: tool for tool in waking.TOOLS}
# Offered in every turn, always in this order, so that prompts begin alike; the others are offered through `more_tools`.
ALWAYS = ("remember", "recall", "set_timer", "forget", "more_tools")
FORMER = {"revise": "remember"}  # former names, which a session's history may show
MAX_SHARE = 4  # offered tools take at most a quarter of the context
MAX_ERROR_CHARACTERS = 1500
NOTHING = ("", "null", "none", "None", "N/A")  # written for an argument that is left out
NOT_KEPT = "This looks like a password, a key or the number of a card: such things are not kept."


def get_offers(groups: Iterable[str] = (), *, in_waking: bool = False) -> list[dict[str, Any]]:
    """Return what is offered in a turn, in the form of the chat protocol: the tools of every turn, then the groups'.

    In a waking, its own tools come first, and those that only the person may ask for are left out. In a small context,
    the earlier ones take precedence, and those that no longer fit are skipped. The list is cached: do not change it.
    """
    return _choose_offers(_name_tools(groups, in_waking), get_provider().context_tokens // MAX_SHARE)


def count_offered_tokens(groups: Iterable[str] = (), *, in_waking: bool = False) -> int:
    """Return about how many tokens the offers of `get_offers` take."""
    return _count_tokens_of_offers(_name_tools(groups, in_waking), get_provider().context_tokens // MAX_SHARE)


def _name_tools(groups: Iterable[str], in_waking: bool) -> tuple[str, ...]:
    """Return the names of the tools of every turn, then those of the groups that still exist; see `get_offers`."""
    names = (*ALWAYS, *(name for group in dict.fromkeys(groups) for name in GROUPS.get(group, ())))
    if not in_waking:
        return names
    own = (tool.name for tool in waking.TOOLS)
    return tuple(name for name in (*own, *names) if name in WAKING_TOOLS)


@cache
def _choose_offers(names: Sequence[str], tokens: int) -> list[dict[str, Any]]:
    every = TOOLS | WAKING_TOOLS
    return keep_fitting((every[name].offer() for name in names), tokens, count_tokens)


@cache
def _count_tokens_of_offers(names: Sequence[str], tokens: int) -> int:
    return count_tokens(_choose_offers(names, tokens))


def asks_model(name: str) -> bool:
    """Return whether the tool asks a model, so that it must not be called within a transaction."""
    return name in WAKING_TOOLS and WAKING_TOOLS[name].asks_model


def call(context: ToolContext, name: str, arguments: str, now: datetime) -> dict[str, Any]:
    """Run the tool and return its result. Unknown names, wrong arguments and refusals give an `error` for the model.

    A result for which the context has no room is replaced by a note that the call was carried out.
    """
    try:
        tool = _read_call(context, name, arguments, now)
        if not count_tokens_left(context):
            raise ToolError(FULL)
        tool.prepare(context, now)
        if tool.writes:
            with transaction.atomic():
                context.hold()
                result = tool.run(context, now)
        else:
            result = tool.run(context, now)
    except ToolError as error:
        return {"error": str(error)[:MAX_ERROR_CHARACTERS]}
    except (CoreMemoryError, TimerError) as error:
        return {"error": str(error.detail)[:MAX_ERROR_CHARACTERS]}
    fits = count_tokens(result) <= count_tokens_left(context) + OVERHEAD_TOKENS
    return result if fits else {"done": True, "too_long_to_show": True}


def _tidy_arguments(tool: type[Tool], arguments: str) -> str:
    """Return the arguments, a JSON object, as the model meant them.

    Small models write the object within another one, "null" for what they leave out, and a list of one text for a text.
    """
    given = read_arguments(arguments)
    if given is None:
        return arguments
    fields = {
        name: field
        for field_name, field in tool.model_fields.items()
        for name in _list_names(field_name, field)
    }
    if len(given) == 1 and (wrapped := given.keys() - fields.keys() & {*ARGUMENTS}):
        inner = given[wrapped.pop()]
        given = inner if isinstance(inner, dict) else given
    tidied = {}
    for name, value in given.items():
        field = fields.get(name)
        if field and field.annotation is str and isinstance(value, list) and len(value) == 1:
            value = value[0]
        if value is not None and not (field and not field.is_required() and value in NOTHING):
            tidied[name] = value
    return json.dumps(tidied)


def _list_names(name: str, field: FieldInfo) -> list[str]:
    """Return the names under which a call may give the argument."""
    alias = field.validation_alias
    return [name, *(map(str, alias.choices) if isinstance(alias, AliasChoices) else ())]


def _rename_argument(
    tool: type[Tool], arguments: str, error: ValidationError, day_context: dict[str, object]
) -> Tool | None:
    """Return the tool if the call lacks nothing but one argument, and gives exactly one under a strange name.

    Small models call `words` "query", and tell the person that all is done even if the call was refused.
    """
    fault, *others = error.errors()
    if others or fault["type"] != "missing":
        return None
    known = {each for name, field in tool.model_fields.items() for each in _list_names(name, field)}
    given = read_arguments(arguments) or {}
    strange = {name for name in given if name not in known}
    if len(strange) != 1:
        return None
    with suppress(ValidationError):
        return tool.model_validate({**given, str(fault["loc"][0]): given[strange.pop()]}, context=day_context)
    return None


def _read_call(context: ToolContext, name: str, arguments: str, now: datetime) -> Tool:
    """Return the tool with parsed arguments, without emotion tags. Raise ToolError if they are invalid or secret."""
    day_context = {"now": now, "user": context.companion.user}  # by which days are named, e.g. "yesterday"
    known = WAKING_TOOLS if context.waking else TOOLS
    name = FORMER.get(name, name)
    if name not in known:
        raise ToolError(f"There is no tool {name!r}. There are: {', '.join(known)}.")
    arguments = _tidy_arguments(known[name], arguments)
    try:
        tool = known[name].model_validate_json(arguments or "{}", context=day_context)
    except ValidationError as error:
        renamed = _rename_argument(known[name], arguments, error, day_context)
        if renamed is None:
            wrong = (
                f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in error.errors()
            )
            raise ToolError("; ".join(wrong)) from error
        tool = renamed
    given = {field: value for field, value in tool if isinstance(value, str)}
    texts = {field: without_tags(value) for field, value in given.items()}
    changed = {field: text for field, text in texts.items() if text != given[field]}
    if empty := [field for field, text in changed.items() if not text.strip()]:
        raise ToolError(f"{empty[0]}: is empty")
    if not all(map(is_storable, texts.values())):
        raise ToolError("arguments: not storable text")
    # Secrets may be recognisable only with the slot's name: "door code: 4711".
    kept = {field: texts[field] for field in ("new", "slot", "text") if texts.get(field)}
    if kept.keys() - {"slot"} and holds_secret(": ".join(kept.values())):
        raise ToolError(NOT_KEPT)
    return tool.model_copy(update=changed)
