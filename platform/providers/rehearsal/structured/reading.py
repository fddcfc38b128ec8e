"""The blocks of a request that wants a form."""

import re
from dataclasses import dataclass, field
from datetime import date

from providers.rehearsal.scene import HAN, unquoted

BLOCK = re.compile(
    r"<kith-(?P<name>[a-z]+)(?P<more>[^<>\n]*)>\n?(?P<text>.*?)\n?</kith-(?P=name)[^<>\n]*>", re.DOTALL
)
SAID = re.compile(
    r"^\[(?P<number>\d+)\] (?P<on>\d{4}-\d\d-\d\d)(?: \d\d:\d\d)? (?P<name>.*?) \((?P<who>user|companion)\):"
    r" (?P<text>\".*)$"
)
NUMBERED = re.compile(
    r"^\W*[A-Z]?(?P<number>\d+)\b(?:[ .:]*\[(?P<on>\d{4}-\d\d-\d\d)[^\]]*\])?(?P<kind>[^\"]*)"
    r"(?P<text>\".*\")(?P<more>[^\"]*)$"
)
NUMBER = re.compile(r"\d+")
WORD = re.compile(r"[a-z_]+")


@dataclass(frozen=True)
class Said:
    """One line of the talk."""

    number: int
    on: date
    name: str
    is_user: bool
    text: str


@dataclass(frozen=True)
class Known:
    """A numbered memory, sentence or pursuit, with its date and kind where they are told."""

    number: int
    text: str
    kind: str = ""
    on: str = ""
    more: str = ""


@dataclass(frozen=True)
class Material:
    """All that a request gives."""

    said: list[Said] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)
    self_concept: list[Known] = field(default_factory=list)
    profile: list[Known] = field(default_factory=list)
    pursuits: list[Known] = field(default_factory=list)
    summary: str = ""
    inner: str = ""
    pages: list[tuple[int, str]] = field(default_factory=list)

    @property
    def is_chinese(self) -> bool:
        """Whether more of the talk is in Chinese characters than in Latin letters, three of which make about one."""
        words = " ".join(line.text for line in self.said) or self.summary
        return is_chinese(words)

    @property
    def names(self) -> set[str]:
        return {line.name for line in self.said}


def is_chinese(text: str) -> bool:
    latin = sum(character.isascii() and character.isalpha() for character in text)
    return len(HAN.findall(text)) * 3 > latin


def read(sent: str) -> Material:
    """The material in a message; what it lacks is empty."""
    blocks = [(found["name"], found["more"], found["text"]) for found in BLOCK.finditer(sent)]
    of = {name: text.splitlines() for name, _, text in blocks}
    return Material(
        said=_said(of.get("said", [])),
        known=_numbered(of.get("known", [])),
        self_concept=_numbered(of.get("self", [])),
        profile=_numbered(of.get("profile", [])),
        pursuits=_numbered(of.get("pursuits", [])),
        summary="\n".join(map(unquoted, of.get("summary", []))),
        inner="\n".join(unquoted(line) for line in of.get("inner", []) if line.startswith('"')),
        pages=[_page(more, text) for name, more, text in blocks if name == "page" and NUMBER.search(more)],
    )


def _said(lines: list[str]) -> list[Said]:
    found = filter(None, map(SAID.match, lines))
    return [
        Said(
            int(line["number"]),
            date.fromisoformat(line["on"]),
            line["name"],
            line["who"] == "user",
            unquoted(line["text"]),
        )
        for line in found
    ]


def _numbered(lines: list[str]) -> list[Known]:
    found = filter(None, map(NUMBERED.match, lines))
    return [
        Known(
            int(line["number"]), unquoted(line["text"]), _kind(line["kind"]), line["on"] or "", line["more"]
        )
        for line in found
    ]


def _kind(text: str) -> str:
    words = WORD.findall(text.lower())
    return words[0] if words else ""


def _page(more: str, text: str) -> tuple[int, str]:
    number = NUMBER.search(more)
    return int(number[0]) if number else 0, unquoted(text)
