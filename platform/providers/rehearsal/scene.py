"""What the rehearsal model makes out of the messages that it is sent."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

CONTEXT = re.compile(r"<kith-context>(.*?)</kith-context>", re.DOTALL)
LINE = re.compile(
    r"^\s*-\s*(?:\[(?P<on>\d{4}-\d\d-\d\d)[^\]]*\]\s*)?(?P<who>[^:\"]*?)(?: said)?:\s*(?P<text>.+)$"
)
IN_MIND = re.compile(r"<kith-(?:user-profile|slots)>(.*?)</kith-", re.DOTALL)
KNOWN = re.compile(r'^- (?:(?P<name>[^"]*?): )?(?P<text>".*")$', re.MULTILINE)
NOW = re.compile(r"^Now: \w+ (\d{1,2} \w+ (\d{4}), \d\d:\d\d)", re.MULTILINE)
LAST_SPOKE = re.compile(r"^Last spoke:\s*(.+)$", re.MULTILINE)
NAME = re.compile(r"\b[Yy]ou are ([A-Z][\w' -]{0,40}?)(?=[,.;:\n]|$)|你是([\w·]{1,20})", re.MULTILINE)
HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Line:
    """Something once said: on which day (ISO, or empty), by whom, in what words."""

    text: str
    who: str = ""
    on: str = ""

    @property
    def is_own(self) -> bool:
        return self.who.strip().lower() in {"you", "你"}


@dataclass(frozen=True)
class Scene:
    """The question and all that may be known about it."""

    question: str = ""
    name: str = ""
    year: str = ""
    now: datetime | None = None  # as a clock shows it where the person is
    last_spoke: str = ""
    remembered: list[Line] = field(default_factory=list)
    known: list[Line] = field(default_factory=list)  # what is always in mind of the person
    history: list[Line] = field(default_factory=list)
    results: list[tuple[str, str, str]] = field(default_factory=list)  # tool, its arguments, what it gave

    @property
    def is_chinese(self) -> bool:
        return bool(HAN.search(self.question))


def plain(content: object) -> str:
    """A message's text, whether it was sent as text or as parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def lines(text: str) -> list[Line]:
    """The remembered lines in a text, in their order."""
    found = filter(None, map(LINE.match, text.splitlines()))
    return [Line(unquoted(line["text"]), line["who"].strip(), line["on"] or "") for line in found]


def unquoted(text: str) -> str:
    """A JSON string's text; any other text as it is."""
    try:
        said = json.loads(text)
    except ValueError:
        return text.strip()
    return said if isinstance(said, str) else text.strip()


def read(messages: Sequence[Mapping[str, Any]]) -> Scene:
    """The scene that a prompt sets."""
    asked = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    sent = plain(messages[asked].get("content")) if asked >= 0 else ""
    context = "".join(CONTEXT.findall(sent))
    rules = "\n".join(
        plain(message.get("content")) for message in messages if message.get("role") == "system"
    )
    name, now, spoke = NAME.search(rules), NOW.search(context), LAST_SPOKE.search(context)
    return Scene(
        question=CONTEXT.sub("", sent).strip(),
        name=(name[1] or name[2]).strip() if name else "",
        year=now[2] if now else "",
        now=_moment(now[1]) if now else None,
        last_spoke=spoke[1].strip() if spoke else "",
        remembered=lines(context.partition("Remembered:")[2]),
        known=_known("".join(IN_MIND.findall(rules))),
        history=_history(messages[: max(asked, 0)]),
        results=_results(messages[asked + 1 :]),
    )


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%d %B %Y, %H:%M")  # noqa: DTZ007 - a clock's face
    except ValueError:
        return None


def _known(text: str) -> list[Line]:
    """The lines of the profile and of the slots, each with its slot's name."""
    found = [(line["name"], unquoted(line["text"])) for line in KNOWN.finditer(text)]
    return [Line(f"{name}: {told}" if name else told, "User") for name, told in found]


def _history(messages: Sequence[Mapping[str, Any]]) -> list[Line]:
    spoken = [message for message in messages if message.get("role") in {"user", "assistant"}]
    said = [(message["role"], CONTEXT.sub("", plain(message.get("content"))).strip()) for message in spoken]
    return [Line(text, "You" if role == "assistant" else "User") for role, text in said if text]


def _results(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    calls = {call["id"]: call["function"] for message in messages for call in message.get("tool_calls") or ()}
    given = [message for message in messages if message.get("role") == "tool"]
    known = [(calls.get(message.get("tool_call_id"), {}), plain(message.get("content"))) for message in given]
    return [(call.get("name", ""), call.get("arguments", ""), text) for call, text in known]
