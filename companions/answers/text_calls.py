"""Parse tool calls that a model wrote as text in the forms of chat templates, and find those that it quotes. Pure.

<tool_call>{"name": "recall", "arguments": {"words": "Tiago"}}</tool_call>
<function=recall>{"words": "Tiago"}</function>
[TOOL_CALLS][{"name": "recall", "arguments": {"words": "Tiago"}}]
{"tool": "recall", "words": "Tiago"}
recall(cue="Tiago"), which Gemma writes in a fence named tool_code
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from text.strings import narrow_marks

MAX_CALLS = 16  # in one text
NAMES = ("name", "function_name", "tool_name", "tool", "action")
ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input")
BESIDE = {*NAMES, "id", "type", "function"}  # keys that are no arguments where these stand beside the name
FUNCTION = re.compile(r"<function=([\w.-]{1,64})>(.*?)(?:</function>|\Z)", re.DOTALL)
PARAMETER = re.compile(r"<parameter=([\w.-]{1,64})>\n?(.*?)\n?(?:</parameter>|\Z)", re.DOTALL)
NAMED = re.compile(
    r"(?:^|\]|>|functions\.)\s{0,20}([A-Za-z_][\w-]{0,63})(?::\d{1,9})?\s{0,20}"
    r"(?:\[ARGS\]|<[^<>]{1,40}>){0,4}\s{0,20}(?=\{)"
)
FENCE = re.compile(r"\s{0,3}(?:`{3}|~{3})")
OPENING = re.compile(r"[\[{]")
ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
MARKUP = re.compile(r"</?[\w:|｜▁]{1,40}>|\[/?[A-Z_]{1,40}\]|`{3,}")
LOOSE = re.compile(r"\\+[nrt]|[\s\\]+")
DECODER = json.JSONDecoder(strict=False)


def read_calls(text: str) -> list[tuple[str, str]]:
    """Return the first `MAX_CALLS` tool calls in the text, each with its name and its arguments as JSON."""
    return list(_find_calls(text))[:MAX_CALLS]


def read_function_call(text: str) -> tuple[str, str] | None:
    """Return the name and the arguments, as JSON, of a call in Python syntax with keywords or one dictionary.

    Return None if the text is no such call.
    """
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        arguments = {str(given.arg): ast.literal_eval(given.value) for given in call.keywords if given.arg}
        if call.args:
            [only] = map(ast.literal_eval, call.args)
            arguments = {**only, **arguments}
        return call.func.id, json.dumps(arguments, ensure_ascii=False)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def read_function_calls(code: str) -> list[tuple[str, str]]:
    """Return the calls in a fence of Gemma's, one in each line, bare or printed; empty if any line is something else."""
    lines = [line.strip() for line in code.splitlines() if line.strip() and not FENCE.match(line)]
    bare = (line[6:-1] if line.startswith("print(") and line.endswith(")") else line for line in lines)
    calls = [read_function_call(line) for line in bare]
    return [call for call in calls if call] if all(calls) else []


def find_words_behind(source: str) -> str:
    """Return the words that follow a call whose JSON is broken: behind its arguments if only its own bracket is missing,
    else from the next line on; "" if it was only cut off.
    """
    try:
        DECODER.raw_decode(source)
    except json.JSONDecodeError as error:
        rest = source[error.pos :]
        return rest if source[: error.pos].rstrip().endswith("}") else rest.partition("\n")[2]
    except RecursionError:
        pass
    return ""


def _find_calls(text: str) -> Iterator[tuple[str, str]]:
    functions = list(FUNCTION.finditer(text))
    for function in functions:
        name, body = function.groups()
        given = {key: _read_value(value) for key, value in PARAMETER.findall(body)}
        arguments = given or _decode(body)
        if isinstance(arguments, dict):
            yield name, json.dumps(arguments, ensure_ascii=False)
    if functions:
        return
    named = NAMED.search(text)
    arguments = _decode(text[named.end() :]) if named else None
    if named and isinstance(arguments, dict) and not any(key in arguments for key in NAMES):
        yield named[1], json.dumps(arguments, ensure_ascii=False)
        return
    found = _decode(text)
    for call in found if isinstance(found, list) else [found]:
        if isinstance(call, dict) and (read := _read_call(call)):
            yield read


def _decode(text: str) -> Any:
    """Return the first JSON object or list in the text, {} if the text is blank, or None if there is no valid JSON."""
    opening = OPENING.search(text.replace("[TOOL_CALLS]", " " * len("[TOOL_CALLS]")))
    if opening is None:
        return {} if not text.strip() else None
    for source in (text, narrow_marks(text)):
        with suppress(ValueError, RecursionError):
            return DECODER.raw_decode(source, opening.start())[0]
    return None


def _read_value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _read_call(call: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the name and the arguments, as JSON, of a JSON object that is a tool call; None if it is not one."""
    function = call.get("function")
    if isinstance(function, dict):
        call = function
    elif isinstance(function, str):
        call = {"name": function, **call}
    named = next((key for key in NAMES if isinstance(call.get(key), str)), "")
    name = call.get(named, "")
    # A thing with a name is no call: {"id": 7, "name": "note", "text": "Buy milk"}
    beside = {key: value for key, value in call.items() if key not in BESIDE} if named != "name" else None
    if not name and len(call) == 1:  # {"recall": {"words": "Tiago"}}
        [(name, beside)] = call.items()
    arguments = next((call[key] for key in ARGUMENTS if key in call), beside)
    if isinstance(arguments, str):
        arguments = _read_value(arguments)
    if not name or not isinstance(arguments, dict):
        return None
    return name, json.dumps(arguments, ensure_ascii=False)


class QuotedCalls:
    """The tool calls quoted in the messages of a prompt: a model that writes one of these as text only repeats it.

    The messages are normalised once, when the first call is looked up.
    """

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._messages = messages

    @cached_property
    def _texts(self) -> list[str]:
        return [_normalise(_get_text(message.get("content"))) for message in self._messages]

    def has(self, name: str, arguments: str) -> bool:
        """Return whether a single message contains the name in the syntax of a call, and every string of the arguments.

        The name as a plain word does not count: "Do you recall Tiago?"
        """
        word = re.escape(_normalise(name))
        named = re.compile(rf"[\"'=]{word}[\"'>]|{word}(?::\d{{1,9}})?[{{(]")
        strings = [_normalise(string) for string in _find_strings(json.loads(arguments))]
        return any(named.search(text) and all(string in text for string in strings) for text in self._texts)


def _find_strings(value: Any) -> Iterator[str]:
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            values += value.values() if isinstance(value, dict) else value


def _normalise(text: str) -> str:
    """Return the text without white space, escapes and tags, so that it is the same however it is quoted."""
    text = ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins escaped surrogate pairs
    return MARKUP.sub("", LOOSE.sub("", text))


def _get_text(content: object) -> str:
    if isinstance(content, list):
        return " ".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
