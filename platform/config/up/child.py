"""One running process of `up`."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil

from config.up.leash import leash
from config.up.programs import Program, as_account


class Child:
    """A Program and, once started, its process; what it prints is added to `log_path`."""

    def __init__(self, program: Program, log_path: Path) -> None:
        self.program = program
        self.log_path = log_path
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process in a session of its own, so that Ctrl-C reaches `up` alone."""
        program = self.program
        program.prepare()
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own programs only
                program.command,
                env={**os.environ, **program.environment},
                cwd=program.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=leash(program.death_signal),  # noqa: PLW1509 - nothing else can set it in time
                **as_account(program.user),
            )

    @property
    def pid(self) -> int:
        """The process id; 0 where it was never started."""
        return self.process.pid if self.process else 0

    @property
    def created(self) -> float:
        """When the process was made, in seconds since 1970 (0.0 where it is gone); with the id it names one process."""
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.pid).create_time() if self.pid else 0.0
        return 0.0

    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal, if there is still a process to take it."""
        if self.process is not None:
            self.process.send_signal(number)

    def stop(self) -> bool:
        """Asks the process to end and, past its time, makes it end; answers whether asking was enough."""
        if self.process is None:
            return True
        self.signal(self.program.stop_signal)
        ended = self._wait(self.program.stop_seconds)
        if not ended:
            self.kill()
        return ended

    def kill(self) -> None:
        """Ends the process and its group at once."""
        if self.process is not None and self.is_running():
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def _wait(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.is_running():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
