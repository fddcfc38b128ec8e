"""The children's logs: kept within bounds, and read for what the person at the terminal should know."""

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path

from config.up.say import say

LOG_BYTES = 10_000_000
SAID_SECONDS = 30.0
SAID_CHARACTERS = 160


def rotate(path: Path) -> None:
    """Puts the log of the run before aside, as NAME.log.1."""
    if path.exists():
        path.replace(_previous(path))


def _previous(path: Path) -> Path:
    return path.with_name(path.name + ".1")


def last_line(path: Path) -> str:
    """The last thing that was said there, in one short line; empty where nothing was."""
    with suppress(FileNotFoundError):
        lines = path.read_text(errors="replace").strip().splitlines()
        return _short(lines[-1]) if lines else ""
    return ""


class Tail:
    """What is added to one log: each complaint in it is counted, and told at most once in SAID_SECONDS."""

    def __init__(self, name: str, path: Path, complaint: re.Pattern[str]) -> None:
        self.name = name
        self.path = path
        self.complaint = complaint
        self.read_bytes = 0
        self.untold: list[str] = []
        self.told_at = float("-inf")

    def look(self, now: float) -> None:
        """Reads on; `now` is in seconds of a clock that never goes back."""
        with suppress(FileNotFoundError):
            self.untold += [line for line in self._new_lines() if self.complaint.search(line)]
            self._bound()
        if self.untold and now - self.told_at >= SAID_SECONDS:
            self._tell()
            self.told_at = now

    def _new_lines(self) -> list[str]:
        with self.path.open("rb") as file:
            file.seek(self.read_bytes)
            new, newline, _ = file.read().rpartition(b"\n")
        self.read_bytes += len(new) + len(newline)
        return new.decode(errors="replace").splitlines()

    def _bound(self) -> None:
        if self.read_bytes > LOG_BYTES:
            shutil.copyfile(self.path, _previous(self.path))
            with self.path.open("r+b") as file:  # its writers append, so they go on at the new end
                file.truncate(0)
            self.read_bytes = 0

    def _tell(self) -> None:
        count = f"{len(self.untold)} errors, the last: " if len(self.untold) > 1 else ""
        say(f"{self.name}: {count}{_short(self.untold[-1])} (more in {self.path})")
        self.untold.clear()


def _short(line: str) -> str:
    with suppress(ValueError, AttributeError):
        line = str(json.loads(line).get("event", line))
    return line if len(line) <= SAID_CHARACTERS else line[: SAID_CHARACTERS - 1] + "…"
