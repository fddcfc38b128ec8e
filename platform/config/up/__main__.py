"""`python -m config.up`: starts Kith, keeps it running, stops it on Ctrl-C. Exits with 1 if it cannot start."""

import argparse
import errno
import os
import signal
import sys
from pathlib import Path

from config.up.home import DISK_IS_FULL, cannot_write, hold_home
from config.up.processes import die_with_parent
from config.up.run import ROOT, Run
from config.up.terminal import Stop, StoppedError, UpError, say

FOLDER_WILL_NOT_DO = DISK_IS_FULL | {errno.EROFS, errno.EACCES, errno.EPERM}


def main(arguments: list[str]) -> int:
    """Run Kith until it is stopped; return the exit status: 0, or 1 after a line that says what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m config.up", description="Start Kith; Ctrl-C stops it.")
    parser.add_argument(
        "--with-parent", action="store_true", help="stop when the process ends that started this one"
    )
    is_with_parent: bool = parser.parse_args(arguments).with_parent
    stop = Stop()
    stop.listen()
    os.umask(0o077)  # only Kith's own user can read what it writes: logs, records, schedules
    if is_with_parent:
        tie = die_with_parent(signal.SIGTERM, parent=os.getppid())  # when `make` ends, Kith stops
        if tie is not None:
            tie()
    home = Path(os.environ.get("KITH_HOME") or ROOT / ".kith").resolve()
    try:
        _run(home, stop)
    except UpError as error:
        say(str(error))
        return 1
    except OSError as error:
        if error.errno not in FOLDER_WILL_NOT_DO:
            raise
        say(cannot_write(home, error))
        return 1
    return 0


def _run(home: Path, stop: Stop) -> None:
    port = os.environ.get("PORT") or "8000"
    if not (port.isdecimal() and 0 < int(port) < 1 << 16):
        raise UpError(f"PORT is {port!r}; it must be a number from 1 to 65535.")
    with hold_home(home):
        run = Run(home, int(port), stop)
        try:
            run.start()
            run.stay()
        except StoppedError:
            say("Stopping ...")
        finally:
            run.end()
    say("Kith has stopped.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
