"""A Kith to measure: Postgres, Valkey, the tables, and processes started as `make up` starts them."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import django
import psutil

from config.up.ports import find_free_port, is_healthy
from config.up.processes import Child, Program, die_with_parent
from config.up.terminal import UpError
from tests.fixtures.embedded import Embedded, wait_until

ROOT = Path(__file__).absolute().parents[2]


class Place:
    """Inside the block both stores run and the tables are there; this process may use the models."""

    def __enter__(self) -> "Place":
        self._all = ExitStack()
        self.folder = Path(self._all.enter_context(tempfile.TemporaryDirectory(prefix="kith-bench-")))
        self.folder.chmod(0o755)  # Postgres runs as an account of its own where we are root
        self.stores = self._all.enter_context(Embedded(self.folder))
        self.environment = {
            "DATABASE_URL": self.stores.database_url,
            "REDIS_URL": self.stores.redis_url,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "KITH_HOME": str(self.folder),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'platform'}",
        }
        os.environ |= self.environment
        self._run_quietly("-m", "config.up.prepare")
        django.setup()
        return self

    def __exit__(self, *error: object) -> None:
        self._all.close()

    def _run_quietly(self, *arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    @contextmanager
    def running(
        self, program: Program, is_ready: Callable[[Child], bool] = lambda _: True, **variables: str
    ) -> Iterator[Child]:
        """Start the program in Kith's folder, yield it once it is ready, and end it with the block."""
        child = Child(program.within(ROOT, self.environment | variables), self.folder / f"{program.name}.log")
        child.start()
        try:
            wait_until(lambda: is_ready(child), child)
            yield child
        except UpError as error:
            raise UpError(f"{error}:\n{child.log_path.read_text()[-2000:]}") from error
        finally:
            child.stop()

    @contextmanager
    def web(
        self, program: Callable[[int], Program], provider: str, model: str
    ) -> Iterator[tuple[Child, int]]:
        """Yield a web process that asks the provider at that address, and its port."""
        port = find_free_port()
        chat = {"LLM_BASE_URL": provider, "LLM_MODEL": model, "KITH_REHEARSAL": "1", "PORT": str(port)}
        with self.running(program(port), lambda web: is_healthy(port, "", web.pid), **chat) as child:
            yield child, port


@contextmanager
def asking(url: str) -> Iterator[None]:
    """Have a Kith that is set up in the block ask the rehearsal model at that address."""
    own = {"LLM_BASE_URL": url, "LLM_MODEL": "rehearsal", "KITH_REHEARSAL": "1"}
    os.environ |= own
    try:
        yield
    finally:
        for name in own:
            del os.environ[name]


@contextmanager
def printing_its_port(module: str) -> Iterator[tuple[psutil.Process, int]]:
    """Run a server of the bench's own; yield its process, and the port that it printed."""
    command = [sys.executable, "-m", module]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent(signal.SIGKILL)
    )
    try:
        assert process.stdout is not None
        yield psutil.Process(process.pid), int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


class Usage:
    """The processor time of some processes, with their children, since this was made."""

    def __init__(self, **processes: psutil.Process) -> None:
        self._processes = processes
        self._began, self._spent = time.monotonic(), self._read()

    def _read(self) -> dict[str, float]:
        spent = {}
        for name, process in self._processes.items():
            spent[name] = sum(map(_seconds, [process, *process.children(recursive=True)]))
        return spent

    def shares(self) -> dict[str, float]:
        """Return what each took of one core, 1.0 being all of it."""
        wall, spent = time.monotonic() - self._began, self._read()
        return {name: max(0.0, spent[name] - self._spent[name]) / wall for name in spent}


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def megabytes(process: psutil.Process) -> float:
    """Return how many megabytes the process holds in memory (its resident set)."""
    return float(process.memory_info().rss) / 1e6
