"""Kith's data folder: made, probed for space and right to write, and held by one `up` at a time."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.up.errors import UpError

PROBE_BYTES = 1 << 20
PRIVATE = ("logs", "mail", "media")  # the folder around them is open to Postgres where that is another user


@contextmanager
def held(home: Path) -> Iterator[None]:
    """The data folder, ready to be written and closed to a second `up`; raises UpError where that cannot be had."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in PRIVATE:
            (home / name).mkdir(mode=0o700, exist_ok=True)
        lock = (home / "up.lock").open("a+")
        for path in (home / "up.lock", *home.glob("beat-schedule*")):
            path.chmod(0o600)  # an earlier Kith left them to be read by others
    except OSError as error:
        raise UpError(cannot_write(home, error)) from error
    with lock:
        _hold(home, lock.fileno())
        _probe(home)
        yield


def cannot_write(home: Path, error: OSError) -> str:
    """One sentence on why the data folder will not do."""
    if error.errno == errno.ENOSPC:
        return f"The disk of Kith's data folder {home} is full. Free some space, or set KITH_HOME to another folder."
    return f"Kith cannot write to its data folder {home}: {error.strerror}. Set KITH_HOME to another folder."


def _hold(home: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 20, 0).decode().strip() or "unknown"
        raise UpError(
            f"Kith is already running on {home} (process {holder}). Stop it, or set KITH_HOME to another folder."
        ) from error
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise UpError(cannot_write(home, error)) from error


def _probe(home: Path) -> None:
    """Raises UpError where a megabyte cannot be written: a full disk still takes an empty file."""
    probe = home / ".probe"
    try:
        with probe.open("wb") as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
        probe.unlink()
    except OSError as error:
        raise UpError(cannot_write(home, error)) from error
