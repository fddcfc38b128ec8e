"""How a line of plain text begins a message, by a template such as `[{date}] {name}: {text}`.

A template is matched by searching for what stands between its parts, each once and within bounds: unlike a stranger's
regular expression it cannot take long.
"""

import re
from typing import NamedTuple

from pasts.errors import PastFormatError
from pasts.past import MAX_NAME, TextPattern
from pasts.times import MAX_TEXT, is_clock, is_time

MAX_TEMPLATE = 200
PART = re.compile(r"\{(date|name|text)\}")
MAX_TRIES = 12  # places at which a date may end
MAX_FAILURES = 3  # in a row: no date has as many parts that are none
COLONS = (": ", "：", ":\t")


class Beginning(NamedTuple):
    """A line that begins a message: who, when as it is written, and the first line of what is said.

    `name` is empty where the line has a date and nobody: a notice of the program's own.
    """

    name: str
    date: str
    text: str


class Matcher:
    """Matches lines against a template. PastFormatError `bad_pattern` for one that is none."""

    def __init__(self, pattern: TextPattern) -> None:
        pieces = (
            PART.split(pattern.template.replace("\\n", "\n")) if len(pattern.template) <= MAX_TEMPLATE else []
        )
        self.parts, self._marks = pieces[1::2], pieces[::2]
        between = self._marks[1 : len(self.parts)]
        is_whole = (
            self.parts.count("name") == 1 and self.parts.count("date") <= 1 and self.parts[-1] == "text"
        )
        if not is_whole or self.parts.count("text") != 1 or not all(between) or self._marks[-1].strip():
            raise PastFormatError("bad_pattern")
        self._end = "\n" if "\n" in "".join(between) else ""  # where what is said begins on the next line
        self.has_date = "date" in self.parts
        self.begins_with_name = not self._marks[0].strip() and self.parts[0] == "name"

    def match(self, line: str) -> Beginning | None:
        """Return what the line begins; None where it goes on with what was said before."""
        first = self._marks[0].lstrip()
        line = line.lstrip(" \t\u200e\u200f\ufeff") + self._end
        if not line.startswith(first):
            return None
        at, found = len(first), {"date": "", "name": ""}
        for part, mark in zip(self.parts, self._marks[1:], strict=True):
            if part == "text":
                return Beginning(found["name"], found["date"], line[at:].removesuffix("\n"))
            end, after = (
                self._find_date_end(line, at, mark) if part == "date" else _find_name_end(line, at, mark)
            )
            if end < 0:
                is_notice = part == "name" and found["date"] and not is_clock(found["date"])
                return Beginning("", found["date"], line[at:].strip()) if is_notice else None
            found[part] = line[at:end].strip()
            at = after
        return None

    def _find_date_end(self, line: str, at: int, mark: str) -> tuple[int, int]:
        """Return where the longest date that begins there ends, and where its mark does."""
        best, end, failures = (-1, -1), at, 0
        for _try in range(MAX_TRIES):
            end = line.find(mark, end + 1, at + MAX_TEXT + len(mark))
            if end < 0 or failures == MAX_FAILURES:
                break
            if is_time(line[at:end]):
                best, failures = (end, end + len(mark)), 0
            else:
                failures += 1
        return best


def _find_name_end(line: str, at: int, mark: str) -> tuple[int, int]:
    """Return where the name that begins there ends, and where its mark does; (-1, -1) where there is none."""
    limit = at + MAX_NAME
    marks = COLONS if mark == ": " else (mark,)
    found = [(end, end + len(told)) for told in marks if (end := line.find(told, at, limit + len(told))) >= 0]
    bare = mark.rstrip()
    if bare and bare != mark and line.endswith(bare) and len(line) - len(bare) - at <= MAX_NAME:
        found.append((len(line) - len(bare), len(line)))  # nothing is said on the line itself
    end, after = min(found, default=(-1, -1))
    return (end, after) if end >= 0 and line[at:end].strip() else (-1, -1)
