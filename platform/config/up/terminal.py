"""How `up` speaks with the person at the terminal: its lines, what keeps it from starting, and the wish to stop."""

import signal
import sys
import time
from types import FrameType

LOOK_SECONDS = 0.1


class UpError(Exception):
    """Kith cannot start or go on; its text is one full sentence that says why and what to do."""


def say(text: str) -> None:
    """Write a line at once, also where the output goes to a file or a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class StoppedError(Exception):
    """The person wants `up` to end; not a fault."""


class Stop:
    """Heard once `listen` was called; children are started and ended whole, since no signal interrupts them."""

    def __init__(self) -> None:
        self.is_wished = False

    def listen(self) -> None:
        """From now on Ctrl-C, SIGTERM and a closed terminal are wishes, not interruptions."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            is_ignored = number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN  # by nohup
            if not is_ignored:
                signal.signal(number, self._hear)

    def wait(self, seconds: float) -> None:
        """Return after that time; raise StoppedError soon after the wish is heard."""
        deadline = time.monotonic() + seconds
        while not self.is_wished and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
        if self.is_wished:
            raise StoppedError

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.is_wished = True
