"""What the rehearsal model reads from the messages of a request."""

import json
import re
from calendar import month_abbr
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from providers.chat.events import Messages
from providers.rehearsal.words import HAN, is_chinese

BLOCK = re.compile(
    r"<kith-(?P<name>[a-z-]+)(?P<more>[^<>\n]*)>\n?(?P<text>.*?)\n?</kith-(?P=name)[^<>\n]*>", re.DOTALL
)
CONTEXT = re.compile(r"<kith-(?:context|directive)>.*?</kith-(?:context|directive)>", re.DOTALL)
# Blocks in a user's message that the person did not write.
NOT_SAID = re.compile(r"<kith-(context|directive|persona)>.*?</kith-\1>", re.DOTALL)
TIME = re.compile(r"^\[\w+ \d+ \w+, \d\d:\d\d\]\n")  # stands before a message after a pause
PINNED_LINE = re.compile(r'^- (?P<name>[^"\n]*)(?P<text>".*")(?: \[\w{3} \d+ \w{3}[ \d]*\])?$', re.MULTILINE)
REMEMBERED_LINE = re.compile(
    r"^\s*-\s*(?:\[(?P<on>[^\]]*)\]\s*)?(?P<who>[^:\"\n]*?)(?: said)?:\s*(?P<text>.+)$", re.MULTILINE
)
DAY = re.compile(r"\w{3} (?P<day>\d{1,2}) (?P<month>[A-Z][a-z]{2})(?: (?P<year>\d{4}))?")
NOW = re.compile(r"^Now: \w+ \d+ \w+ (\d{4})", re.MULTILINE)
NAME = re.compile(r"\b[Yy]ou are ([A-Z][\w' -]{0,40}?)(?=[,.;:\n]|$)|你是([\w·]{1,20})", re.MULTILINE)
TASK = re.compile(r"\ATask: (\w+)")
SAID_ON = re.compile(r"^\w{3} (\d{4}-\d\d-\d\d):$")
SAID = re.compile(
    r"^\[(?P<number>\d+)\] \d\d:\d\d (?P<name>.*?) \((?P<who>user|companion)\): (?P<text>\".*)$"
)
NUMBERED = re.compile(r"^\W*[A-Z]?(?P<number>\d+)\b[^\"]*(?P<text>\".*\")[^\"]*$")
OWN = {"you", "你"}


def read_text(content: object) -> str:
    """Return a message's text, whether it was sent as text or as parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def unquote(text: str) -> str:
    """Return the value of a JSON string; any other text is returned as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, str) else text


def read_last_asked(messages: Messages) -> str:
    """Return the whole text of the user's last message, or an empty string if there is none."""
    asked = [read_text(message.get("content")) for message in messages if message.get("role") == "user"]
    return asked[-1] if asked else ""


def find_task(body: Mapping[str, Any]) -> str:
    """Return the task whose form a request asks for, by its schema's name or system message; empty for a talk."""
    schema = (body.get("response_format") or {}).get("json_schema")
    if schema:
        return str(schema.get("name") or "")
    first: Mapping[str, Any] = next(iter(body.get("messages") or ()), {})
    named = TASK.match(read_text(first.get("content"))) if first.get("role") == "system" else None
    return named[1] if named else ""


@dataclass(frozen=True)
class Line:
    """Something that was said: in what words, by whom, and on which day (as the prompt names it, or empty)."""

    text: str
    who: str = ""
    on: str = ""

    @property
    def is_own(self) -> bool:
        return self.who.strip().lower() in OWN


def read_day(text: str, year: int) -> date | None:
    """Return the day that the text names, as "Thu 26 Nov" or "Thu 26 Nov 2025"; None if it names none."""
    if named := DAY.match(text):
        with suppress(ValueError):
            return date(int(named["year"] or year), [*month_abbr].index(named["month"]), int(named["day"]))
    return None


def read_lines(text: str) -> list[Line]:
    """Return the remembered lines in a text, in order."""
    lines = REMEMBERED_LINE.finditer(text)
    return [Line(unquote(line["text"]).strip(), line["who"].strip(), line["on"] or "") for line in lines]


class Talk:
    """The user's question in a talk, and all that the messages tell that may answer it."""

    def __init__(self, messages: Messages) -> None:
        asked = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1)
        sent = read_text(messages[asked].get("content")) if asked >= 0 else ""
        context = "".join(CONTEXT.findall(sent))
        systems = (message for message in messages if message.get("role") == "system")
        rules = "\n".join(read_text(message.get("content")) for message in systems)
        name = NAME.search(rules)
        self.question = NOT_SAID.sub("", sent).strip()
        self.is_chinese = bool(HAN.search(self.question))
        self.name = (name[1] or name[2]).strip() if name else ""
        now = NOW.search(context)
        self.year = int(now[1]) if now else date.min.year
        self.shows_emotion = "<emotion " in rules
        self.remembered = read_lines(context.partition("Remembered:")[2])
        self.pinned = [  # the pinned lines about the person
            Line(line["name"] + unquote(line["text"]), "User")
            for block in BLOCK.finditer(rules)
            if block["name"] in ("user-profile", "slots")
            for line in PINNED_LINE.finditer(block["text"])
        ]
        self.told = [  # earlier in this talk
            Line(TIME.sub("", NOT_SAID.sub("", read_text(message.get("content"))).strip()).strip(), "User")
            for message in messages[: max(asked, 0)]
            if message.get("role") == "user"
        ]
        self.results = _read_results(messages[asked + 1 :])


def _read_results(messages: Messages) -> list[tuple[str, dict[str, Any], str]]:
    """Return the tools that were called, each as its name, arguments and result."""
    calls = {call["id"]: call["function"] for message in messages for call in message.get("tool_calls") or ()}
    results = []
    for message in messages:
        if message.get("role") == "tool":
            call = calls.get(message.get("tool_call_id"), {})
            given = read_text(message.get("content"))
            results.append((call.get("name", ""), read_object(call.get("arguments", "")), given))
    return results


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object in the text, or an empty one if it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True)
class Said:
    """One line of a talk in a request for a form."""

    number: int
    on: date
    name: str
    is_user: bool
    text: str


class Material:
    """The contents of the blocks in the last message of a request for a form; what it lacks is empty."""

    def __init__(self, messages: Messages) -> None:
        self._blocks = list(BLOCK.finditer(read_last_asked(messages)))
        self.said = list(self._read_said())
        self.summary = "\n".join(map(unquote, self._lines("summary")))
        self.inner = "\n".join(unquote(line) for line in self._lines("inner") if line.startswith('"'))
        self.pages = [
            (int(number[0]), unquote(block["text"]))
            for block in self._blocks
            if block["name"] == "page" and (number := re.search(r"\d+", block["more"]))
        ]

    def _read_said(self) -> Iterator[Said]:
        day = date.min
        for text in self._lines("said"):
            if named := SAID_ON.match(text):
                day = date.fromisoformat(named[1])
            elif line := SAID.match(text):
                number, is_user = int(line["number"]), line["who"] == "user"
                yield Said(number, day, line["name"], is_user, unquote(line["text"]))

    def _lines(self, name: str) -> list[str]:
        return [
            line for block in self._blocks if block["name"] == name for line in block["text"].splitlines()
        ]

    def read_known(self, name: str) -> dict[int, str]:
        """Return the numbered lines of a block, such as `known`, `self` or `profile`, keyed by their numbers."""
        lines = filter(None, map(NUMBERED.match, self._lines(name)))
        return {int(line["number"]): unquote(line["text"]) for line in lines}

    @cached_property
    def user_text(self) -> str:
        return " ".join(line.text for line in self.said if line.is_user)

    @cached_property
    def is_chinese(self) -> bool:
        return is_chinese(" ".join(line.text for line in self.said) or self.summary)
