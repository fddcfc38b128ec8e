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

KILL_SECONDS = 2.0


class Child:
    """A Program and, once started, its process; what it prints is added to `log_path`."""

    def __init__(self, program: Program, log_path: Path) -> None:
        self.program = program
        self.log_path = log_path
        self.process: subprocess.Popen[bytes] | None = None
        self._stop_by = 0.0

    def start(self) -> None:
        """Starts the process in a session of its own, so that Ctrl-C reaches `up` alone."""
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
                preexec_fn=leash(program.death_signal),
                **as_account(program.user),
            )

    @property
    def pid(self) -> int:
        """The process id; 0 where it was never started."""
        return self.process.pid if self.process else 0

    @property
    def created(self) -> float:
        """When the process began, in seconds since 1970; 0.0 where it is gone. With the id it names one process."""
        with suppress(psutil.NoSuchProcess):
            return float(psutil.Process(self.pid).create_time()) if self.pid else 0.0
        return 0.0

    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def how_it_ended(self) -> str:
        """`ended with status N` or `was ended by SIGNAL`."""
        code = self.process.poll() if self.process else None
        if code is None:
            return "has not ended"
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    def stop(self) -> bool:
        """Asks the process to end and, past its time, makes it end; answers whether asking was enough."""
        self.ask_to_stop()
        return self.end()

    def ask_to_stop(self) -> None:
        """Asks the process to end; its time begins now."""
        self._stop_by = time.monotonic() + self.program.stop_seconds
        if self.process is not None:
            self.process.send_signal(self.program.stop_signal)

    def end(self) -> bool:
        """Waits for a process that was asked to stop and, past its time, makes it end; False where that was needed."""
        is_ended = self._wait(self._stop_by)
        if not is_ended:
            self.kill()
        return is_ended

    def kill(self) -> None:
        """Ends the process at once: first as its leash would, so that Postgres takes its own children with it."""
        if self.process is None or not self.is_running():
            return
        self.process.send_signal(self.program.death_signal)
        if not self._wait(time.monotonic() + KILL_SECONDS):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _wait(self, deadline: float) -> bool:
        while self.is_running():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
