"""Matching lines of plain text that begin a message against a template such as `[{date}] {name}: {text}`.

A template is matched by searching for the marks between its parts within bounds: unlike an untrusted regular expression
it cannot take long.
"""

import re
from typing import NamedTuple

from pasts.past import MAX_NAME, MAX_TEMPLATE, PastFormatError, TextPattern
from pasts.times import MAX_TEXT, is_clock, is_time

PART = re.compile(r"\{(date|name|text)\}")
OTHER_PART = re.compile(r"\{\w+\}")
MAX_TRIES = 12  # positions that are tried as the end of a date
MAX_FAILURES = 3  # in a row, after which no longer date is expected
COLONS = (": ", "：", ":\t")


class Beginning(NamedTuple):
    """A line that begins a message: the speaker, the date as written, and the first line of the text.

    `name` is empty if the line has a date but no speaker: it is a notice of the program itself.
    """

    name: str
    date: str
    text: str


class Matcher:
    """Matches lines against a template. Raise PastFormatError `pattern_…`, whose code says what is wrong with it."""

    def __init__(self, pattern: TextPattern) -> None:
        self.parts, self._marks = _split(pattern.template)
        between = self._marks[1 : len(self.parts)]
        self._end = "\n" if "\n" in "".join(between) else ""  # if the text begins on the next line
        self.has_date = "date" in self.parts
        self.begins_with_name = not self._marks[0].strip() and self.parts[0] == "name"

    def match(self, line: str) -> Beginning | None:
        """Return the beginning of a message if the line is one, or None if it continues the message before."""
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
        """Return where the longest date at `at` ends, and where the mark after it ends; (-1, -1) if there is none."""
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
    """Return the template's parts, and the marks before, between and after them. Raise PastFormatError `pattern_…`."""
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
    """Return where the name at `at` ends, and where the mark after it ends; (-1, -1) if there is none."""
    limit = at + MAX_NAME
    marks = COLONS if mark == ": " else (mark,)
    found = [
        (end, end + len(colon)) for colon in marks if (end := line.find(colon, at, limit + len(colon))) >= 0
    ]
    bare = mark.rstrip()
    if bare and bare != mark and line.endswith(bare) and len(line) - len(bare) - at <= MAX_NAME:
        found.append((len(line) - len(bare), len(line)))  # the line has no text after the name
    end, after = min(found, default=(-1, -1))
    return (end, after) if end >= 0 and line[at:end].strip() else (-1, -1)
