"""Kith's own engines, one process for each wanted model file: started, restarted and ended while Kith runs.

`python -m config.up.engines` takes the options of `providers.engine`, installs the engine if needed, and becomes it.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from config.up.install import VENV, InstallError, install
from config.up.ports import find_free_port
from config.up.processes import Program
from config.up.supervisor import Supervisor
from config.up.terminal import say
from providers.engine.registry import (
    RunningEngine,
    WantedEngine,
    get_running_path,
    get_wanted_path,
    read_wanted,
    write_running,
)

REQUIREMENTS = "requirements-engine.txt"


def engine_program(name: str, engine: WantedEngine, port: int) -> Program:
    """Return the program that serves the model file by llama.cpp on a loopback port, for chat or for embedding."""
    command = [sys.executable, "-m", "config.up.engines", f"--file={engine.file}", f"--name={engine.name}"]
    command += [f"--port={port}", f"--context={engine.context_tokens}"]
    command += [f"--slots={engine.slots}", f"--threads={engine.threads}"]
    command += ["--embedding"] * engine.is_embedding
    return Program(name, command)


@dataclass
class Engines:
    """Keeps the engines running that providers want; `look` is called a few times a second; `start` runs a program."""

    supervisor: Supervisor
    start: Callable[[Program], None]
    wanted: dict[int, WantedEngine] = field(default_factory=dict)
    running: dict[int, RunningEngine] = field(default_factory=dict)
    _seen: tuple[int, int] | None = None  # inode and modification time of the file of wanted engines
    _written: dict[int, RunningEngine] = field(default_factory=dict)

    def look(self) -> None:
        """Stop engines that are no longer wanted, start newly wanted ones, and write down the state of all."""
        home = self.supervisor.home
        if (seen := _identify(get_wanted_path(home))) != self._seen:
            self._seen, wanted = seen, read_wanted(home)
            for id in [id for id, engine in self.wanted.items() if wanted.get(id) != engine]:
                self.supervisor.discard(get_name(id))
                del self.running[id]
            for id in wanted.keys() - self.running.keys():
                say(f"Starting an engine for {wanted[id].name} ...")
                self.running[id] = RunningEngine(find_free_port())
                self.start(engine_program(get_name(id), wanted[id], self.running[id].port))
            self.wanted = wanted
        for id, engine in self.running.items():
            self.running[id] = RunningEngine(engine.port, self.supervisor.watched[get_name(id)].ends)
        if self.running != self._written:
            write_running(home, self.running)
            self._written = dict(self.running)

    def forget(self) -> None:
        """Delete the files of wanted and of running engines, of an earlier run or of this one."""
        for path in (get_wanted_path(self.supervisor.home), get_running_path(self.supervisor.home)):
            path.unlink(missing_ok=True)


def get_name(id: int) -> str:
    """Return the name of the engine of the provider with that id, among the processes and for its log."""
    return f"engine-{id}"


def _identify(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def main(arguments: list[str]) -> int:
    """Become the engine, after installing it if needed; return 1 after a line that says why that failed."""
    if Path(sys.prefix) == VENV:  # otherwise Kith does not manage its packages itself
        try:
            install(REQUIREMENTS)
        except InstallError as error:
            say(str(error))
            return 1
    os.execv(sys.executable, [sys.executable, "-m", "providers.engine", *arguments])  # noqa: S606


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
