"""The registry of the tools that a model may call: which are offered, and how a call is carried out."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import AliasChoices, ValidationError
from pydantic.fields import FieldInfo

from companions.answers.emotion_tags import without_tags
from companions.answers.text_calls import ARGUMENTS
from companions.errors import TimerError
from companions.prompting.history import read_arguments
from companions.tools.bounds import FULL, OVERHEAD_TOKENS, count_tokens, count_tokens_left
from companions.tools.more_tools import GROUPS, MoreTools
from companions.tools.subjects import waking
from companions.tools.subjects.memory import Forget, RecallMemories, Remember
from companions.tools.subjects.timers import SetTimer
from companions.tools.tool import Tool, ToolContext, ToolError
from memory.errors import CoreMemoryError
from memory.learning.rules.secrets import holds_secret
from providers.selection import get_provider
from providers.tokens import keep_fitting
from text.strings import is_storable

# Offered in every turn, always in this order, so that prompts begin alike; the others are offered through `more_tools`.
ALWAYS: list[type[Tool]] = [Remember, RecallMemories, SetTimer, Forget, MoreTools]
TOOLS = {tool.name: tool for tools in (ALWAYS, *(group.tools for group in GROUPS.values())) for tool in tools}
WAKING_TOOLS = {tool.name: tool for tool in (*waking.TOOLS, *TOOLS.values()) if tool.in_wakings}
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
    return _choose_offers(_choose_tools(groups, in_waking), get_provider().context_tokens // MAX_SHARE)


def count_offered_tokens(groups: Iterable[str] = (), *, in_waking: bool = False) -> int:
    """Return about how many tokens the offers of `get_offers` take."""
    return _count_tokens_of_offers(
        _choose_tools(groups, in_waking), get_provider().context_tokens // MAX_SHARE
    )


def _choose_tools(groups: Iterable[str], in_waking: bool) -> tuple[type[Tool], ...]:
    """Return the tools of every turn, then those of the groups that still exist; see `get_offers`."""
    added = (tool for name in dict.fromkeys(groups) if name in GROUPS for tool in GROUPS[name].tools)
    tools = (*ALWAYS, *added)
    return (*waking.TOOLS, *(tool for tool in tools if tool.in_wakings)) if in_waking else tools


@cache
def _choose_offers(tools: Sequence[type[Tool]], tokens: int) -> list[dict[str, Any]]:
    return keep_fitting((tool.offer() for tool in tools), tokens, count_tokens)


@cache
def _count_tokens_of_offers(tools: Sequence[type[Tool]], tokens: int) -> int:
    return count_tokens(_choose_offers(tools, tokens))


def describe_under_way(name: str) -> dict[str, str]:
    """Return by tool the text shown while the companion called `name` uses it, in the reader's language."""
    return {tool.name: str(tool.under_way) % {"name": name} for tool in TOOLS.values() if tool.under_way}


def describe_done() -> dict[str, str]:
    """Return by tool the text of what was done with it, in the reader's language, including tools of wakings only."""
    tools = TOOLS | WAKING_TOOLS
    return {name: str(tool.done) for name, tool in tools.items() if tool.done} | {
        "revise": _("corrected a memory")
    }


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
