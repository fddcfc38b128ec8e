"""Running one of Kith's programs as a child process, which also ends if its parent does."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TypedDict

import psutil

# A JSON log line of level error or above, or a plain line with such a word.
COMPLAINT = re.compile(r'"level": "(error|critical)"|\b(ERROR|CRITICAL|FATAL|PANIC)\b')
PR_SET_PDEATHSIG = 1
KILL_SECONDS = 2.0


class Account(TypedDict, total=False):
    """The arguments with which subprocess starts a process as another account."""

    user: str
    group: str
    extra_groups: list[str]


def as_account(name: str | None) -> Account:
    """Return the arguments for that user with its own group alone, or none for None.

    In root's group the user would be kept out of folders that let others pass but not the group.
    """
    return {} if name is None else {"user": name, "group": name, "extra_groups": []}


@dataclass(frozen=True)
class Program:
    """How one process is started and ended.

    `prepare` runs before each start and restart, and clears away what a killed process left behind. `complaint` matches
    the lines of its log that the terminal should show. `death_signal` is what the process gets if `up` itself is
    killed; `user` is the account that it runs as (None: ours).
    """

    name: str
    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    user: str | None = None
    prepare: Callable[[], None] = lambda: None
    complaint: re.Pattern[str] = COMPLAINT
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    stop_seconds: float = 5.0

    def within(self, folder: Path, environment: Mapping[str, str]) -> Self:
        """Return a copy that runs in the folder, with the environment variables added to this process's own."""
        return replace(self, folder=folder, environment=environment)


def die_with_parent(death_signal: signal.Signals, parent: int = 0) -> Callable[[], None] | None:
    """Return a function for a new process to run first, so that the kernel sends it `death_signal` if its parent ends.

    Linux only; None elsewhere, where the supervisor finds orphans by their records. The kernel watches the thread that
    created the child, so children are created by the main thread. A later change of user would undo this, but
    subprocess changes it before the function runs. `parent` is a process id; 0 means this process.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    expected = parent or os.getpid()

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != expected:  # the parent died before the call above
            os._exit(1)

    return tie


class Child:
    """A Program and, once started, its process, whose output is appended to `log_path`."""

    def __init__(self, program: Program, log_path: Path) -> None:
        self.program = program
        self.log_path = log_path
        self.process: subprocess.Popen[bytes] | None = None
        self._stop_by = 0.0

    def start(self) -> None:
        """Start the process in a session of its own, so that Ctrl-C reaches `up` alone."""
        program = self.program
        program.prepare()
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                program.command,
                env={**os.environ, **program.environment},
                cwd=program.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent(program.death_signal),
                **as_account(program.user),
            )

    @property
    def pid(self) -> int:
        """Return the process id, or 0 if the process was never started."""
        return self.process.pid if self.process else 0

    @property
    def created(self) -> float:
        """Return when the process started, in seconds since 1970, or 0.0 if it is gone.

        Together with the process id, which may be reused, this identifies one process.
        """
        with suppress(psutil.NoSuchProcess):
            return float(psutil.Process(self.pid).create_time()) if self.pid else 0.0
        return 0.0

    def is_running(self) -> bool:
        """Return whether the process was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def how_it_ended(self) -> str:
        """Return `ended with status N`, `was ended by SIGNAL` or `has not ended`."""
        code = self.process.poll() if self.process else None
        if code is None:
            return "has not ended"
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    def stop(self) -> bool:
        """Ask the process to end, and kill it if it does not in time; return False if it had to be killed."""
        self.ask_to_stop()
        return self.end()

    def ask_to_stop(self) -> None:
        """Ask the process to end; from now on it has its program's `stop_seconds`."""
        self._stop_by = time.monotonic() + self.program.stop_seconds
        if self.process is not None:
            self.process.send_signal(self.program.stop_signal)

    def end(self) -> bool:
        """Wait for a process that was asked to stop, and kill it if it does not in time; return False if so."""
        if self.process is None:
            return True
        try:
            self.process.wait(max(0.0, self._stop_by - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """End the process at once: first by its `death_signal`, so that Postgres ends its children, then by SIGKILL."""
        if self.process is None or not self.is_running():
            return
        self.process.send_signal(self.program.death_signal)
        try:
            self.process.wait(KILL_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
