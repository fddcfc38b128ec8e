"""What was said, as a model is shown it: plain lines, to which the model refers by their numbers."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from itertools import groupby
from uuid import UUID

import regex

from memory.learning.rules.secrets import secrets_in
from text.dates import find_days_ahead, read_dates, render_day
from text.strings import folded, one_line, quoted

# The marks that separate the parts of a rendered line.
FORM = regex.compile('["“”()（）\\[\\]［］【】:：]+')
BARE_DAY = regex.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)\b|(?<!\d)(\d{1,2})[号號日]")


@dataclass(frozen=True)
class Line:
    """One message of a talk: by whom ("user" or "companion"), under what name, and when, in the user's zone.

    `given` are the texts of the memories that a reply was given when it said this: what merely repeats them is no news.
    """

    message_id: UUID
    speaker: str
    name: str
    text: str
    said_at: datetime
    given: tuple[str, ...] = ()

    @cached_property
    def days(self) -> frozenset[str]:
        """The days, as terms, that the line names, and the day on which it was said. Cached, as many texts are compared
        with it.
        """
        text, on = folded(self.text), self.said_at
        written, told = read_dates(text, None)[0], read_dates(text, on)[0]
        days = (on.date(), *find_days_ahead(self.text, on.date()), *self._read_bare_days(text))
        month = f"@{on.year:04}-{on.month:02}"
        return frozenset({f"@{on:%m-%d}", month, *written, *told, *(f"@{day}" for day in days)})

    def _read_bare_days(self, text: str) -> Iterator[date]:
        """Yield the days that "on the 11th" may mean: in the month in which the line was said, and in the next."""
        for match in BARE_DAY.finditer(text):
            for months in range(2):
                year, month = divmod(self.said_at.year * 12 + self.said_at.month - 1 + months, 12)
                with suppress(ValueError):
                    yield date(year, month + 1, int(match[1] or match[2]))


@dataclass(frozen=True)
class Talk:
    """Lines, oldest first; the first has the number 1."""

    lines: Sequence[Line]

    def __getitem__(self, number: int) -> Line:
        """Return the line with this number. Raise KeyError if there is none."""
        if not 1 <= number <= len(self.lines):
            raise KeyError(number)
        return self.lines[number - 1]

    def lines_of(self, numbers: Iterable[int]) -> list[Line]:
        """Return the lines with these numbers, each once; numbers without a line are left out."""
        return [self[number] for number in dict.fromkeys(numbers) if 1 <= number <= len(self.lines)]

    def numbers_of(self, ids: Iterable[UUID]) -> list[int]:
        """Return the numbers of the lines of these messages, each once; messages without a line are left out."""
        numbers = {line.message_id: number for number, line in enumerate(self.lines, start=1)}
        return [numbers[id] for id in dict.fromkeys(ids) if id in numbers]

    def texts(self, speaker: str) -> list[str]:
        """Return what "user" or "companion" said, in order."""
        return [line.text for line in self.lines if line.speaker == speaker]

    @cached_property
    def secrets(self) -> frozenset[str]:
        """What looks like a secret in the lines (`secrets_in`). Cached; best computed outside of a transaction."""
        return secrets_in(line.text for line in self.lines)

    def render(self, numbers: Collection[int] | None = None) -> list[str]:
        """Return the lines, or those with these numbers, as text: each as `[3] 09:05 Emily (user): "…"`, those of a day
        under a line that names it, `Tue 2023-05-02:`.
        """
        shown = [number for number in range(1, len(self.lines) + 1) if numbers is None or number in numbers]
        rendered = []
        for day, of_day in groupby(shown, key=lambda number: self[number].said_at.date()):
            rendered += [f"{render_day(day)}:", *map(self.render_line, of_day)]
        return rendered

    def render_line(self, number: int) -> str:
        """Return the line as text, without its day.

        Names lose the marks of that form, so that a name cannot pass for another line or another speaker.
        """
        line = self[number]
        name = one_line(FORM.sub(" ", line.name)) or f"the {line.speaker}"
        return f"[{number}] {line.said_at:%H:%M} {name} ({line.speaker}): {quoted(line.text)}"
