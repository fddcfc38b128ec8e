"""Supervision of the child processes: restarts, the logs, and the records by which a later run finds orphans."""

import json
import re
import shutil
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import psutil

from config.up.processes import Child, Program
from config.up.terminal import say

LOG_BYTES = 10_000_000
FINAL_LINES = 10
SAID_SECONDS = 30.0
SAID_CHARACTERS = 300
CLOCK_SECONDS = 2.0  # by which two readings of one process's start may differ
FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0  # a process that ran that long restarts after the first pause again


def rotate(path: Path) -> None:
    """Rename the log of the previous run, if there is one, to NAME.log.1."""
    if path.exists():
        path.replace(_previous(path))


def _previous(path: Path) -> Path:
    return path.with_name(path.name + ".1")


def last_line(path: Path, complaint: re.Pattern[str] | None = None) -> str:
    """Return the log's last line, shortened, or an empty string if there is none.

    With a `complaint`, prefer the last line that matches it among the final ones: a server that cannot begin often says
    why before it says that it shuts down.
    """
    with suppress(FileNotFoundError):
        lines = path.read_text(errors="replace").strip().splitlines()[-FINAL_LINES:]
        complaints = [line for line in lines if complaint and complaint.search(line)]
        return _short((complaints or lines)[-1]) if lines else ""
    return ""


class Tail:
    """Follows one log, counts the lines that match `complaint`, and prints at most one message in SAID_SECONDS."""

    def __init__(self, name: str, path: Path, complaint: re.Pattern[str]) -> None:
        self.name = name
        self.path = path
        self.complaint = complaint
        self.read_bytes = 0
        self.untold: list[str] = []
        self.told_at = float("-inf")

    def look(self, now: float) -> None:
        """Read what is new in the log, and print complaints if it is time; `now` is in seconds of a monotonic clock."""
        with suppress(FileNotFoundError):
            with self.path.open("rb") as file:
                file.seek(self.read_bytes)
                new, newline, _ = file.read().rpartition(b"\n")
            self.read_bytes += len(new) + len(newline)
            lines = new.decode(errors="replace").splitlines()
            self.untold += [line for line in lines if self.complaint.search(line)]
            if self.read_bytes > LOG_BYTES:
                with suppress(OSError):  # of a full disk: the log is copied once there is room
                    shutil.copyfile(self.path, _previous(self.path))
                    with self.path.open("r+b") as file:  # its writers append, so they go on at the start
                        file.truncate(0)
                    self.read_bytes = 0
        if self.untold and now - self.told_at >= SAID_SECONDS:
            count = f"{len(self.untold)} errors, the last: " if len(self.untold) > 1 else ""
            say(f"{self.name}: {count}{_short(self.untold[-1])} (more in {self.path})")
            self.untold.clear()
            self.told_at = now


def _short(line: str) -> str:
    with suppress(ValueError, AttributeError):
        line = str(json.loads(line).get("event", line))
    return line if len(line) <= SAID_CHARACTERS else line[: SAID_CHARACTERS - 1] + "…"


RECORDS_FILE = "processes.json"


class Record(NamedTuple):
    """A process, identified by its id and start time, since an id alone may be reused.

    `folder` identifies the data folder, since a copy of it has the same records while the original's processes run.
    """

    name: str
    pid: int
    created: float
    folder: str = ""  # not written by earlier versions


def write_records(path: Path, children: Iterable[Child]) -> None:
    """Replace the file with records of the children that are running now."""
    folder = _identify_folder(path)
    rows = [
        Record(child.program.name, child.pid, child.created, folder)
        for child in children
        if child.is_running()
    ]
    new = path.with_suffix(".new")
    new.write_text(json.dumps(rows))
    new.replace(path)


def end_recorded(path: Path) -> list[str]:
    """End every recorded process that still runs; return their names."""
    left = {process: record.name for record in _read_records(path) if (process := _find_process(record))}
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in [process for process in left if process.is_running()]:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        psutil.wait_procs(list(left), timeout=5)
    path.unlink(missing_ok=True)
    return list(left.values())


def find_recorded(path: Path, name: str) -> psutil.Process | None:
    """Return the recorded process of that name if it still runs, or None."""
    return next((_find_process(record) for record in _read_records(path) if record.name == name), None)


def _read_records(path: Path) -> list[Record]:
    """Return the records of this data folder's processes, not those that were copied along with it."""
    with suppress(FileNotFoundError, ValueError, TypeError):  # a truncated file counts as empty
        records = [Record(*row) for row in json.loads(path.read_text())]
        return [record for record in records if record.folder in ("", _identify_folder(path))]
    return []


def _identify_folder(path: Path) -> str:
    found = path.parent.stat()
    return f"{found.st_dev}:{found.st_ino}"


def _find_process(record: Record) -> psutil.Process | None:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(record.pid)
        is_same = abs(process.create_time() - record.created) < CLOCK_SECONDS
        return process if is_same and process.status() != psutil.STATUS_ZOMBIE else None
    return None


@dataclass
class WatchedChild:
    """A child with its log and its restarts: `ends` counts how often it ended since it last ran steadily."""

    child: Child
    tail: Tail
    started_at: float
    ends: int = 0
    start_again_at: float | None = None

    def pause_seconds(self, now: float) -> float:
        """Count an end of the child; return how long to wait before restarting it, doubled after each early end."""
        self.ends = 1 if now - self.started_at >= STEADY_SECONDS else self.ends + 1
        return min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(self.ends - 1, 10))


@dataclass
class Supervisor:
    """Keeps the children of one data folder running; `watch` is called a few times a second."""

    home: Path
    watched: dict[str, WatchedChild] = field(default_factory=dict)
    is_recorded: bool = True  # False if a full disk prevented it: then the next `watch` records the children

    def end_orphans(self) -> None:
        """End the processes that a killed `up` left behind."""
        for name in end_recorded(self._records):
            say(f"Ended {name}, left over from an earlier run.")

    def start(self, program: Program) -> Child:
        """Start a program, and keep it running from now on."""
        log = self.home / "logs" / f"{program.name}.log"
        log.parent.mkdir(mode=0o700, exist_ok=True)
        rotate(log)
        child = Child(program, log)
        child.start()
        self.watched[program.name] = WatchedChild(
            child, Tail(program.name, log, program.complaint), time.monotonic()
        )
        self._record()
        return child

    def watch(self) -> None:
        """Print complaints in the logs and children that have ended, and restart those whose pause is over.

        Raise OSError, after all that, if a restarted child cannot be recorded, e.g. if the disk is full.
        """
        now = time.monotonic()
        for watched in self.watched.values():
            watched.tail.look(now)
            if watched.start_again_at is None and not watched.child.is_running():
                pause = watched.pause_seconds(now)
                watched.start_again_at = now + pause
                last = last_line(watched.tail.path, watched.tail.complaint)
                words = f"; its last words: {last}" if last else ""
                ended = watched.child.how_it_ended()
                say(f"{watched.tail.name} {ended}; starting it again in {pause:g} s{words}")
            elif watched.start_again_at is not None and now >= watched.start_again_at:
                watched.child.start()
                watched.started_at, watched.start_again_at = now, None
                say(f"{watched.tail.name} has been started again.")
                self.is_recorded = False
        if not self.is_recorded:
            self._record()

    def discard(self, name: str) -> None:
        """End a child, and no longer keep it running."""
        self.watched.pop(name).child.stop()
        self._record()

    def stop(self, *groups: tuple[str, ...]) -> None:
        """End the named children group after group, those of a group at the same time."""
        for names in groups:
            group = [self.watched[name].child for name in names if name in self.watched]
            for child in group:
                child.ask_to_stop()
            for child in group:
                if not child.end():
                    say(
                        f"{child.program.name} did not stop within {child.program.stop_seconds:.0f} s and was killed."
                    )
        self._records.unlink(missing_ok=True)

    @property
    def _records(self) -> Path:
        return self.home / RECORDS_FILE

    def _record(self) -> None:
        self.is_recorded = False
        write_records(self._records, [watched.child for watched in self.watched.values()])
        self.is_recorded = True
