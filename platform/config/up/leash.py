"""Children that end with their parent, however it ends."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def leash(death_signal: signal.Signals, parent: int = 0) -> Callable[[], None] | None:
    """What a new process runs before its program, so that the kernel sends it `death_signal` when its parent ends.

    Linux only (None elsewhere: see records.py). The kernel watches the thread that made the child, so children are
    made by the main thread; a change of user would undo the leash, and subprocess changes it before this runs.
    The parent is this process unless another is named.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    expected = parent or os.getpid()

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != expected:  # it died before the leash was on
            os._exit(1)

    return tie
