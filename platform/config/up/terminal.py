"""The terminal of `up`: printing lines, errors that keep Kith from starting, and the signals to stop."""

import signal
import sys
import time
from contextlib import suppress
from types import FrameType

LOOK_SECONDS = 0.1


class UpError(Exception):
    """Kith cannot start or go on; its text is one full sentence that says why and what to do."""


def say(text: str) -> None:
    """Print a line, unbuffered even if the output goes to a file or a pipe.

    Go on without it if nobody reads the pipe any more, or the file's disk is full: Kith would stop for that. Characters
    that the terminal does not have are replaced.
    """
    encoding = sys.stdout.encoding or "utf-8"
    with suppress(OSError):
        print(text.encode(encoding, "replace").decode(encoding), flush=True)


class StoppedError(Exception):
    """The person has asked `up` to stop; not a fault."""


class Stop:
    """The person's request to stop. Signals only note it, so that they never interrupt starting or ending a child."""

    def __init__(self) -> None:
        self.is_wished = False

    def listen(self) -> None:
        """Take Ctrl-C, SIGTERM and a closed terminal as requests to stop, from now on, instead of interruptions."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            is_ignored = number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN  # by nohup
            if not is_ignored:
                signal.signal(number, self._hear)

    def wait(self, seconds: float) -> None:
        """Sleep that long; raise StoppedError if the person asks to stop, within LOOK_SECONDS."""
        deadline = time.monotonic() + seconds
        while not self.is_wished and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
        if self.is_wished:
            raise StoppedError

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.is_wished = True
