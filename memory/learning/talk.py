"""What was said, as it is put before a model: plain lines, which it names by their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.quoting import one_line, quoted


@dataclass(frozen=True, slots=True)
class Line:
    """One thing said: by whom ("user" or "companion") under what name, and when, in the user's zone.

    `given` are the texts of the memories that a reply was given as it said this: what merely repeats them is no news.
    """

    message_id: UUID
    speaker: str
    name: str
    text: str
    said_at: datetime
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Talk:
    """Lines in the order of time; the first has the number 1."""

    lines: Sequence[Line]

    def __getitem__(self, number: int) -> Line:
        """The line of that number; KeyError where there is none."""
        if not 1 <= number <= len(self.lines):
            raise KeyError(number)
        return self.lines[number - 1]

    def texts(self, speaker: str) -> list[str]:
        """What "user" or "companion" said, in order."""
        return [line.text for line in self.lines if line.speaker == speaker]

    def written(self) -> list[str]:
        """One text a line: `[3] 2023-05-02 09:05 Emily (user): "…"`."""
        return [
            f"[{number}] {line.said_at:%Y-%m-%d %H:%M} {one_line(line.name)} ({line.speaker}): {quoted(line.text)}"
            for number, line in enumerate(self.lines, start=1)
        ]
