"""What the rehearsal model makes out of the messages that it is sent."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from providers.rehearsal.words import HAN, is_chinese

Messages = Sequence[Mapping[str, Any]]

CONTEXT = re.compile(r"<kith-context>(.*?)</kith-context>", re.DOTALL)
WAKING = re.compile(r"<kith-waking>(.*?)</kith-waking>", re.DOTALL)
PINNED = re.compile(r"<kith-(?:user-profile|slots)>(.*?)</kith-", re.DOTALL)
PINNED_LINE = re.compile(r'^- (?:(?P<name>[^"]*?): )?(?P<text>".*")$', re.MULTILINE)
LINE = re.compile(
    r"^\s*-\s*(?:\[(?P<on>\d{4}-\d\d-\d\d)[^\]]*\]\s*)?(?P<who>[^:\"]*?)(?: said)?:\s*(?P<text>.+)$",
    re.MULTILINE,
)
NOW = re.compile(r"^Now: \w+ (\d{1,2} \w+ \d{4}, \d\d:\d\d)", re.MULTILINE)
LAST_SPOKE = re.compile(r"^Last spoke:\s*(.+)$", re.MULTILINE)
NAME = re.compile(r"\b[Yy]ou are ([A-Z][\w' -]{0,40}?)(?=[,.;:\n]|$)|你是([\w·]{1,20})", re.MULTILINE)
TASK = re.compile(r"\ATask: (\w+)")
BLOCK = re.compile(
    r"<kith-(?P<name>[a-z]+)(?P<more>[^<>\n]*)>\n?(?P<text>.*?)\n?</kith-(?P=name)[^<>\n]*>", re.DOTALL
)
SAID = re.compile(
    r"^\[(?P<number>\d+)\] (?P<on>\d{4}-\d\d-\d\d)(?: \d\d:\d\d)? (?P<name>.*?) \((?P<who>user|companion)\):"
    r" (?P<text>\".*)$"
)
NUMBERED = re.compile(
    r"^\W*[A-Z]?(?P<number>\d+)\b(?:[ .:]*\[\d{4}-\d\d-\d\d[^\]]*\])?[ :]*(?P<kind>[a-z_]*)[^\"]*(?P<text>\".*\")[^\"]*$"
)
NUMBER = re.compile(r"\d+")


def read_text(content: object) -> str:
    """Return a message's text, whether it was sent as text or as parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def unquote(text: str) -> str:
    """Return a JSON string's text; any other text as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text.strip()
    return value if isinstance(value, str) else text.strip()


def read_last_asked(messages: Messages) -> str:
    """Return the last message of the user, whole."""
    asked = [read_text(message.get("content")) for message in messages if message.get("role") == "user"]
    return asked[-1] if asked else ""


def find_task(body: Mapping[str, Any]) -> str:
    """Return which form a request asks for, by its schema's name or its system message; empty for a talk."""
    form = body.get("response_format")
    schema = form.get("json_schema") if isinstance(form, dict) else None
    if isinstance(schema, dict):
        return str(schema.get("name") or "")
    first: Mapping[str, Any] = next(iter(body.get("messages") or ()), {})
    named = TASK.match(read_text(first.get("content"))) if first.get("role") == "system" else None
    return named[1] if named else ""


@dataclass(frozen=True)
class Line:
    """Something once said: in what words, by whom, on which day (ISO, or empty)."""

    text: str
    who: str = ""
    on: str = ""

    @property
    def is_own(self) -> bool:
        return self.who.strip().lower() in {"you", "你"}


def read_lines(text: str) -> list[Line]:
    """Return the remembered lines in a text, in their order."""
    return [
        Line(unquote(line["text"]), line["who"].strip(), line["on"] or "") for line in LINE.finditer(text)
    ]


@dataclass(frozen=True)
class Talk:
    """The question of a talk and all that may be known about it."""

    question: str
    name: str
    now: datetime | None  # as a clock shows it where the person is
    last_spoke: str
    remembered: list[Line]
    pinned: list[Line]  # what is always in mind of the person
    history: list[Line]
    results: list[tuple[str, str, str]]  # tool, its arguments, what it gave

    @property
    def is_chinese(self) -> bool:
        return bool(HAN.search(self.question))


def read_talk(messages: Messages) -> Talk:
    """Return what a prompt tells."""
    asked = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    sent = read_text(messages[asked].get("content")) if asked >= 0 else ""
    context = "".join(CONTEXT.findall(sent))
    rules = "\n".join(
        read_text(message.get("content")) for message in messages if message.get("role") == "system"
    )
    name, spoke = NAME.search(rules), LAST_SPOKE.search(context)
    pinned = [
        (line["name"], unquote(line["text"])) for line in PINNED_LINE.finditer("".join(PINNED.findall(rules)))
    ]
    history = [
        Line(
            CONTEXT.sub("", read_text(message.get("content"))).strip(),
            "You" if role == "assistant" else "User",
        )
        for message in messages[: max(asked, 0)]
        if (role := message.get("role")) in {"user", "assistant"}
    ]
    return Talk(
        question=CONTEXT.sub("", sent).strip(),
        name=(name[1] or name[2]).strip() if name else "",
        now=_read_now(context),
        last_spoke=spoke[1].strip() if spoke else "",
        remembered=read_lines(context.partition("Remembered:")[2]),
        pinned=[Line(f"{name}: {text}" if name else text, "User") for name, text in pinned],
        history=[line for line in history if line.text],
        results=_read_results(messages[asked + 1 :]),
    )


def _read_now(context: str) -> datetime | None:
    now = NOW.search(context)
    try:
        return datetime.strptime(now[1], "%d %B %Y, %H:%M") if now else None  # noqa: DTZ007 - a clock's face
    except ValueError:
        return None


def _read_results(messages: Messages) -> list[tuple[str, str, str]]:
    calls = {call["id"]: call["function"] for message in messages for call in message.get("tool_calls") or ()}
    given = [message for message in messages if message.get("role") == "tool"]
    known = [(calls.get(message.get("tool_call_id"), {}), message) for message in given]
    return [
        (call.get("name", ""), call.get("arguments", ""), read_text(message.get("content")))
        for call, message in known
    ]


@dataclass(frozen=True)
class Said:
    """One line of a talk that is to be learnt from."""

    number: int
    on: date
    name: str
    is_user: bool
    text: str


@dataclass(frozen=True)
class Known:
    """A numbered memory, sentence or goal, with its kind where that is told."""

    number: int
    text: str
    kind: str = ""


@dataclass(frozen=True)
class Material:
    """All that a request for a form gives; what it lacks is empty."""

    said: list[Said]
    known: dict[str, list[Known]] = field(default_factory=dict)  # by the block's name
    summary: str = ""
    inner: str = ""
    pages: list[tuple[int, str]] = field(default_factory=list)

    @property
    def user_text(self) -> str:
        return " ".join(line.text for line in self.said if line.is_user)

    @property
    def is_chinese(self) -> bool:
        return is_chinese(" ".join(line.text for line in self.said) or self.summary)


def read_material(messages: Messages) -> Material:
    """Return the blocks of the last message."""
    blocks = [
        (block["name"], block["more"], block["text"]) for block in BLOCK.finditer(read_last_asked(messages))
    ]
    lines = {name: text.splitlines() for name, _, text in blocks}
    numbered = ("known", "self", "profile", "pursuits")
    pages = ((NUMBER.search(more), text) for name, more, text in blocks if name == "page")
    return Material(
        said=[
            Said(
                int(line["number"]),
                date.fromisoformat(line["on"]),
                line["name"],
                line["who"] == "user",
                unquote(line["text"]),
            )
            for line in filter(None, map(SAID.match, lines.get("said", [])))
        ],
        known={
            name: [
                Known(int(line["number"]), unquote(line["text"]), line["kind"])
                for line in filter(None, map(NUMBERED.match, lines.get(name, [])))
            ]
            for name in numbered
        },
        summary="\n".join(map(unquote, lines.get("summary", []))),
        inner="\n".join(unquote(line) for line in lines.get("inner", []) if line.startswith('"')),
        pages=[(int(number[0]), unquote(text)) for number, text in pages if number],
    )
