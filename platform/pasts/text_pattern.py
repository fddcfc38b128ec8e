"""How a line of plain text begins a message, by a template such as `[{date}] {name}: {text}`.

A template is matched by searching for what stands between its parts, each once and within bounds: unlike a stranger's
regular expression it cannot take long.
"""

import re
from typing import NamedTuple

from pasts.past import MAX_NAME, MAX_TEMPLATE, PastFormatError, TextPattern
from pasts.times import MAX_TEXT, is_clock, is_time

PART = re.compile(r"\{(date|name|text)\}")
OTHER_PART = re.compile(r"\{\w+\}")
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
    """Matches lines against a template. PastFormatError `pattern_…` for one that is none: which says what is wrong."""

    def __init__(self, pattern: TextPattern) -> None:
        self.parts, self._marks = _split(pattern.template)
        between = self._marks[1 : len(self.parts)]
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


def _split(template: str) -> tuple[list[str], list[str]]:
    """Return the parts of a template, and what stands before, between and after them. PastFormatError `pattern_…`."""
    if len(template) > MAX_TEMPLATE:
        raise PastFormatError("pattern_too_long")
    pieces = PART.split(template.replace("\\n", "\n"))
    parts, marks = pieces[1::2], pieces[::2]
    if any(map(OTHER_PART.search, marks)):
        raise PastFormatError("pattern_other_part")
    for part in ("name", "text"):
        if part not in parts:
            raise PastFormatError(f"pattern_without_{part}")
    if len(set(parts)) < len(parts):
        raise PastFormatError("pattern_part_twice")
    if parts[-1] != "text" or marks[-1].strip():
        raise PastFormatError("pattern_text_not_last")
    if not all(marks[1 : len(parts)]):
        raise PastFormatError("pattern_parts_touch")
    return parts, marks


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
