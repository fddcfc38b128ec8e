"""Parse decorators: `@@name value` lines at the top of an entry's content, of Character Card V3 and RisuAI. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]
Read = Callable[[str], Any]  # parses a decorator's value; None if it is invalid

LINE = re.compile(r"(@@@?)\s*(\S*)(.*)", re.DOTALL)
NUMBER = re.compile(r"[+-]?\d{1,9}(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Decorators:
    """The decorators of one entry. Each is None, False or () if the entry does not have it.

    V3's decorators that Kith never obeys are missing, so that their fallbacks count: `instruct_depth`,
    `reverse_instruct_depth` and `instruct_scan_depth` are for prompts that are not a chat, and `disable_ui_prompt`
    would let a card remove the operator's instructions.
    """

    activate_only_after: int | None = None  # number of the assistant's messages
    activate_only_every: int | None = None  # number of the assistant's messages, above 0
    keep_activate_after_match: bool = False
    dont_activate_after_match: bool = False
    depth: int | None = None  # messages from the newest
    reverse_depth: int | None = None  # messages from the oldest
    role: Role | None = None
    scan_depth: int | None = None
    is_greeting: int | None = None  # 0 is the card's first message
    position: str | None = None  # one of POSITIONS
    ignore_on_max_context: bool = False
    additional_keys: tuple[tuple[str, ...], ...] = ()  # one key of each tuple is needed
    exclude_keys: tuple[str, ...] = ()
    is_user_icon: str | None = None  # without meaning, since Kith has no pictures of people
    activate: bool = False
    dont_activate: bool = False
    after: bool = False  # mentioned by V3 only once: it switches `depth` off
    # RisuAI's
    exclude_keys_all: tuple[str, ...] = ()
    probability: int | None = None  # in percent
    priority: int | None = None
    match_full_word: bool = False
    match_partial_word: bool = False
    recursive: bool = False
    unrecursive: bool = False
    no_recursive_search: bool = False
    end: bool = False


POSITIONS = ("before_desc", "after_desc", "personality", "scenario")
ROLES = ("system", "user", "assistant")


def _read_number(value: str) -> int | None:
    return int(float(value)) if NUMBER.fullmatch(value) else None


def _read_number_from(least: int) -> Read:
    def read(value: str) -> int | None:
        number = _read_number(value)
        return number if number is not None and number >= least else None

    return read


def _read_percent(value: str) -> int | None:
    number = _read_number(value.removesuffix("%").rstrip())
    return None if number is None else min(max(number, 0), 100)


def _read_flag(value: str) -> bool | None:
    return None if value.casefold() == "false" else True


def _read_keys(value: str) -> tuple[str, ...] | None:
    return tuple(key for part in value.split(",") if (key := part.strip())) or None


def _read_choice(choices: tuple[str, ...]) -> Read:
    return lambda value: value if value in choices else None


READERS: dict[str, Read] = {
    "activate_only_after": _read_number,
    "activate_only_every": _read_number_from(1),
    "depth": _read_number,
    "reverse_depth": _read_number,
    "role": _read_choice(ROLES),
    "scan_depth": _read_number_from(0),
    "is_greeting": _read_number,
    "position": _read_choice(POSITIONS),
    "additional_keys": _read_keys,
    "exclude_keys": _read_keys,
    "exclude_keys_all": _read_keys,
    "is_user_icon": lambda value: value or None,
    "probability": _read_percent,
    "priority": _read_number,
}
READERS |= {field.name: _read_flag for field in fields(Decorators) if field.name not in READERS}


def parse_decorators(content: str) -> tuple[Decorators, str]:
    """Return the decorators, and the content without their lines and the blank lines around them.

    A line with three @ is a fallback: it counts only if the decorator above it, and any fallbacks between, are unknown
    or invalid. The first valid decorator of a name counts, but all lines of `additional_keys` do.
    """
    lines, rest = _split(content)
    found: dict[str, Any] = {}
    is_settled = True  # a fallback without a decorator above it does not count
    for is_fallback, name, value in lines:
        if is_fallback and is_settled:
            continue
        read = READERS[name](value) if name in READERS else None
        is_settled = read is not None
        if name == "additional_keys" and read:
            found[name] = (*found.get(name, ()), read)
        elif read is not None:
            found.setdefault(name, read)
    return replace(Decorators(), **found), rest


def _split(content: str) -> tuple[list[tuple[bool, str, str]], str]:
    """Return each decorator (whether it is a fallback, its name, its value) and the content below them."""
    lines = content.replace("\r\n", "\n").split("\n")
    found, last = [], 0
    for count, line in _read_top(lines):
        last = count
        if match := LINE.fullmatch(line):
            marks, name, value = match.groups()
            found.append((marks == "@@@", name.lower(), value.strip()))
    return found, "\n".join(lines[last:]).strip("\n") if found else content


def _read_top(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield each line at the top that begins with @@, with the number of lines up to it; blank lines are skipped."""
    for count, line in enumerate(lines, start=1):
        if line.lstrip().startswith("@@"):
            yield count, line.strip()
        elif line.strip():
            return
