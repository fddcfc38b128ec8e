"""The wish to stop: Ctrl-C or SIGTERM, noticed where `up` waits and nowhere else."""

import signal
import time
from types import FrameType

LOOK_SECONDS = 0.1


class StoppedError(Exception):
    """The person wants `up` to end; not a fault."""


class Stop:
    """Heard once `listen` was called; children are started and ended whole, since no signal interrupts them."""

    def __init__(self) -> None:
        self.is_wished = False

    def listen(self) -> None:
        """From now on Ctrl-C, SIGTERM and a closed terminal are wishes, not interruptions."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if (
                number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN
            ):  # as nohup wants it
                signal.signal(number, self._hear)

    def wait(self, seconds: float) -> None:
        """Returns after that time; raises StoppedError soon after the wish is heard."""
        deadline = time.monotonic() + seconds
        while not self.is_wished and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
        if self.is_wished:
            raise StoppedError

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.is_wished = True
