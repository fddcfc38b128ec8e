"""Structured answers: asked for as JSON, found within whatever the model wrote around it, repaired, and validated."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeVar, cast

from json_repair import repair_json
from pydantic import BaseModel, ValidationError

from providers.availability import choose
from providers.chat.completion import metered_completion
from providers.chat.events import Messages
from providers.chat_provider import ChatProvider
from providers.errors import MalformedError, ProviderRefused, ProviderUnavailable
from providers.failures import may_another_server_answer
from providers.http.clients import run_in_background
from providers.selection import Capability, find_fallbacks, get_provider
from text.strings import is_storable, narrow_marks

Answer = TypeVar("Answer", bound=BaseModel)

BROKEN_START = re.compile(r"\{\s*[\"'\w]")
START = re.compile(r'\{(?=\s*")')  # an empty object answers nothing
INSIDE = re.compile(r'(?:[\[{]|[\]}"\d]\s*,|"\s*:)\Z')  # what precedes an object within a broken one
LOOK_BACK_CHARACTERS = 40
MAX_STARTS = 50
MAX_REPAIRS = 4
MAX_REPAIRED_CHARACTERS = 60_000
MAX_DEPTH = 12  # deeper objects are no answer, and take the library time quadratic in their depth
CUT_DEPTH = 2  # the depth of lists in an answer: their whole entries are kept if the rest was cut
FENCE = re.compile(r"\n?```\s*\Z")
MAX_DIGITS = 18


def ask(task: str, messages: Messages, answer: type[Answer]) -> Answer:
    """Return the background model's answer to the messages as an object of type `answer`; the calling thread waits.

    `task` names what is asked for: check, digest, diary, facts, verification, understanding, reflection, gists or
    night. The schema is sent with the messages, but left out for servers that do not support it, so the messages must
    tell the form too. The call is metered.
    Raise ProviderUnavailable, also if the server refused its key or model instead of the request, ProviderRefused, or
    MalformedError if the answer holds no object in that form, or only gives back the form itself, as the messages show
    it by an example.
    """
    schema = {"name": task, "schema": _load_schema(answer), "strict": False}
    providers = _find_providers()
    form = {"type": "json_schema", "json_schema": schema}
    try:
        with metered_completion(providers, messages, form=form) as completion:
            return parse_answer(completion.text, answer, _find_examples(messages))
    except ProviderRefused as error:
        if not may_another_server_answer(error):
            raise
        raise ProviderUnavailable(error.said, status=error.status) from error


def require_model() -> None:
    """Raise ProviderBusy if `ask` could ask no model now, before something is spent on what it is to be asked."""
    run_in_background(choose(_find_providers(), only_looks=True))


def _find_providers() -> list[ChatProvider]:
    provider = get_provider(Capability.BACKGROUND)
    return [provider, *find_fallbacks(provider, Capability.BACKGROUND)]


@cache
def _load_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of that type, without titles and docstrings; to make it takes some milliseconds."""
    return cast(dict[str, Any], _drop_descriptions(answer.model_json_schema()))


def _drop_descriptions(schema: Any) -> Any:
    """Return the schema without what is written for readers of the code; the messages tell a model what it needs."""
    if isinstance(schema, list):
        return [_drop_descriptions(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    # Both may also be the name of a property, whose value is then a schema.
    return {
        name: _drop_descriptions(part)
        for name, part in schema.items()
        if name not in {"title", "description"} or isinstance(part, dict)
    }


def _find_examples(messages: Messages) -> list[dict[str, Any]]:
    """Return the objects by which the first message shows the form, with "…" instead of words."""
    shown = find_objects(str(messages[0]["content"]))
    return [example for example in shown if "…" in json.dumps(example, ensure_ascii=False)]


def parse_answer(text: str, answer: type[Answer], examples: Sequence[dict[str, Any]] = ()) -> Answer:
    """Return the last object in the text that is valid as `answer`, except for those that are the same as one of the
    `examples`. Raise MalformedError, not quoting it, if there is none.

    If none is valid as it stands, objects are tried that are nested in others, e.g. in "properties" as in a schema, and
    repaired ones.
    """
    objects = find_objects(text)
    found = [each for each in objects if each not in examples]
    faults = "" if found else "only the example" if objects else "no JSON object"
    for candidate in _find_candidates(text, found):
        if candidate in examples:
            continue
        try:
            return answer.model_validate(candidate)
        except ValidationError as error:
            faults = faults or _describe_faults(error, answer)
        except (ValueError, ArithmeticError, RecursionError):
            faults = faults or "a value out of all bounds"
    raise MalformedError(f"The answer is not in form: {faults}")


def _find_candidates(text: str, found: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the objects that may be the answer, most likely first."""
    yield from reversed(found)
    yield from filter(None, map(_unwrap, reversed(found)))
    for repaired in _repair_objects(text):
        yield repaired
        if inner := _unwrap(repaired):
            yield inner


def _unwrap(candidate: dict[str, Any]) -> dict[str, Any] | None:
    """Return the object nested in a candidate that is shaped like a schema, or has a single value; None otherwise."""
    inner = candidate.get("properties") or (next(iter(candidate.values())) if len(candidate) == 1 else None)
    return inner if isinstance(inner, dict) else None


def _repair_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the first MAX_REPAIRS broken objects, repaired; stop at one that exceeds the decoder's limits."""
    repairs = 0
    for start in islice(BROKEN_START.finditer(text), MAX_STARTS):
        try:
            DECODER.raw_decode(text, start.start())
            continue
        except json.JSONDecodeError:
            repaired = _repair(text[start.start() :])
        except (ValueError, RecursionError):
            return
        repairs += 1
        if repaired is not None:
            try:
                strict = DECODER.decode(json.dumps(repaired))  # read as strictly as an unrepaired one
            except (ValueError, RecursionError):
                return
            if _is_storable(strict):
                yield strict
        if repairs == MAX_REPAIRS:
            return


def _repair(text: str) -> dict[str, Any] | None:
    """Return the object that begins at the start of the text, repaired, or None if nothing whole is left of it.

    Trailing commas, full-width marks, single quotes, comments and cut answers are repaired. An entry that was cut is left
    out as a whole: half an entry would tell half the truth.
    """
    text = narrow_marks(FENCE.sub("", text[:MAX_REPAIRED_CHARACTERS]))
    whole = _leave_out_cut(text)
    if whole is None:
        return None
    try:
        repaired = repair_json(whole, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    if isinstance(repaired, list):  # prose behind the object, or another one
        repaired = next((part for part in repaired if isinstance(part, dict)), None)
    return repaired if isinstance(repaired, dict) and repaired else None


def _leave_out_cut(text: str) -> str | None:
    """Return the text up to the end of its object or, if that was cut, of its last whole entry.

    Return None if it has no whole entry or is nested too deeply.
    """
    depth, whole_until, is_string, is_escaped = 0, 0, False, False
    for at, character in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif is_string:
            is_escaped, is_string = character == "\\", character != '"'
        elif character == '"':
            is_string = True
        elif character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return None
        elif character in "]}":
            depth -= 1
            if depth <= 0:
                return text[: at + 1]
            whole_until = at + 1 if depth <= CUT_DEPTH else whole_until
        elif character == "," and depth == 1:
            whole_until = at
    return text[:whole_until] if whole_until else None


def _describe_faults(error: ValidationError, answer: type[BaseModel]) -> str:
    """Return which fields are wrong, and how, without their values."""
    faults: Sequence[Any] = error.errors(include_url=False, include_context=False, include_input=False)
    named = [(str(fault["loc"][0]) if fault["loc"] else "", fault["type"]) for fault in faults[:5]]
    return ", ".join(f"{name}: {kind}" if name in answer.model_fields else kind for name, kind in named)


def find_objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects in the text that are not part of another value, in order, e.g. after prose or in fences.

    An object with a NUL, a lone surrogate, a duplicate key, too large a number or NaN is skipped. The search ends at one
    that is nested too deep, and after MAX_STARTS tries.
    """
    found: list[dict[str, Any]] = []
    at = 0
    for _ in range(MAX_STARTS):
        start = START.search(text, at)
        if start is None:
            break
        begin = start.start()
        is_part = INSIDE.search(text[:begin].rstrip()[-LOOK_BACK_CHARACTERS:])
        try:
            candidate, at = DECODER.raw_decode(text, begin)
        except json.JSONDecodeError as error:
            at = max(error.pos, begin + 1)
        except RecursionError:
            break
        except ValueError:
            at = _find_end(text, begin)
        else:
            if not is_part and _is_storable(candidate):
                found.append(candidate)
    return found


def _find_end(text: str, begin: int) -> int:
    """Return where the object ends that begins there and has a value out of bounds, or where it breaks."""
    try:
        return LENIENT_DECODER.raw_decode(text, begin)[1]
    except json.JSONDecodeError as error:
        return max(error.pos, begin + 1)
    except RecursionError:
        return len(text)


def _is_storable(candidate: object) -> bool:
    left = [candidate]
    while left:
        value = left.pop()
        if isinstance(value, str) and not is_storable(value):
            return False
        if isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value
    return True


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands there twice")
    return dict(pairs)


def _parse_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def _parse_float(digits: str) -> float:
    number = float(digits)  # `digits` is also NaN or Infinity
    if not math.isfinite(number):
        raise ValueError("a number is not finite")
    return number


DECODER = json.JSONDecoder(
    object_pairs_hook=_build_object,
    parse_int=_parse_int,
    parse_float=_parse_float,
    parse_constant=_parse_float,
)
LENIENT_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
