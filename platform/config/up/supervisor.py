"""Keeps processes running until they are told to stop."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from config.up.child import Child
from config.up.logs import Tail, last_line, rotate
from config.up.programs import Program
from config.up.records import end_recorded, write_records
from config.up.say import say

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0  # a process that ran so long starts again with the first pause


@dataclass
class Watched:
    """A child and what is known of its ends."""

    child: Child
    tail: Tail
    started_at: float
    ends: int = 0
    start_again_at: float | None = None

    def pause_seconds(self, now: float) -> float:
        """How long to wait before its next start, twice as long each time that it ended early."""
        self.ends = 1 if now - self.started_at >= STEADY_SECONDS else self.ends + 1
        return min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(self.ends - 1, 10))


@dataclass
class Supervisor:
    """The children of one data folder; `watch` is called a few times a second."""

    home: Path
    watched: dict[str, Watched] = field(default_factory=dict)

    def end_orphans(self) -> None:
        """Ends what an `up` that was killed left behind."""
        for name in end_recorded(self._records):
            say(f"Ended {name}, left over from an earlier run.")

    def start(self, program: Program) -> Child:
        """Starts a program and keeps it running from now on."""
        log = self.home / "logs" / f"{program.name}.log"
        log.parent.mkdir(mode=0o700, exist_ok=True)
        rotate(log)
        child = Child(program, log)
        child.start()
        self.watched[program.name] = Watched(
            child, Tail(program.name, log, program.complaint), time.monotonic()
        )
        self._record()
        return child

    def watch(self) -> None:
        """Tells what went wrong since the last look, and starts again what has ended and waited long enough."""
        now = time.monotonic()
        for one in self.watched.values():
            one.tail.look(now)
            if one.start_again_at is not None:
                self._start_again(one, now)
            elif not one.child.is_running():
                self._note_end(one, now)

    def stop(self, *groups: tuple[str, ...]) -> None:
        """Ends the children group after group, those of one group together."""
        for names in groups:
            group = [self.watched[name].child for name in names if name in self.watched]
            for child in group:
                child.ask_to_stop()
            for child in group:
                if not child.end():
                    say(
                        f"{child.program.name} did not stop in {child.program.stop_seconds:.0f} s and was ended."
                    )
        self._records.unlink(missing_ok=True)

    def _note_end(self, one: Watched, now: float) -> None:
        pause = one.pause_seconds(now)
        one.start_again_at = now + pause
        last = last_line(one.tail.path)
        words = f"; its last words: {last}" if last else ""
        say(f"{one.tail.name} {one.child.how_it_ended()}; starting it again in {pause:g} s{words}")

    def _start_again(self, one: Watched, now: float) -> None:
        if one.start_again_at is not None and now >= one.start_again_at:
            one.child.start()
            one.started_at, one.start_again_at = now, None
            say(f"{one.tail.name} is started again.")
            self._record()

    @property
    def _records(self) -> Path:
        return self.home / "processes.json"

    def _record(self) -> None:
        write_records(self._records, [one.child for one in self.watched.values()])
