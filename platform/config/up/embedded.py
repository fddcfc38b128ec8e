"""Postgres and Valkey as children of this process, for who needs both and no supervisor: tests and benches."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from config.up.home import load_secrets
from config.up.ports import find_free_port
from config.up.postgres import Postgres
from config.up.processes import Child
from config.up.stores import Valkey
from config.up.terminal import UpError

READY_SECONDS = 60.0


class Embedded:
    """Both services, their data below `home`; `start` returns when both answer, leaving the block ends them.

    They end with this process, even when it is killed. `postgres` and `redis` are their processes: a test may
    kill one and `start` it again on the same port.
    """

    def __init__(self, home: Path, *, durable: bool = True) -> None:
        self.home = home.resolve()
        self.home.mkdir(parents=True, exist_ok=True)
        secrets = load_secrets(self.home)
        database = Postgres(self.home / "postgres", find_free_port(), secrets["POSTGRES_PASSWORD"], durable)
        cache = Valkey(self.home / "redis", find_free_port(), secrets["REDIS_PASSWORD"])
        self.database_url, self.redis_url = database.url, cache.url
        self.postgres = Child(database.program(), self.home / "postgres.log")
        self.redis = Child(cache.program(), self.home / "redis.log")
        self._ready = {self.postgres: database.is_ready, self.redis: cache.is_ready}

    def start(self) -> None:
        """Start whichever of the two is not running; raises UpError where one will not answer."""
        asleep = [child for child in self._ready if not child.is_running()]
        for child in asleep:
            child.start()
        for child in asleep:
            wait_until(self._ready[child], child)

    def stop(self) -> None:
        """End both."""
        self.redis.stop()
        self.postgres.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def wait_until(is_ready: Callable[[], bool], child: Child) -> None:
    """Return when the child's service answers; raises UpError where it ends or takes too long."""
    deadline = time.monotonic() + READY_SECONDS
    while not is_ready():
        if not child.is_running() or time.monotonic() > deadline:
            raise UpError(f"{child.program.name} did not start; see {child.log_path}")
        time.sleep(0.02)


def run_with_services(command: list[str]) -> int:
    """Run the command, which finds both services under DATABASE_URL and REDIS_URL; return its exit status."""
    with (
        tempfile.TemporaryDirectory(prefix="kith-") as folder,
        Embedded(Path(folder), durable=False) as services,
    ):
        addresses = {
            "DATABASE_URL": services.database_url,
            "REDIS_URL": services.redis_url,
            "KITH_HOME": folder,
        }
        return subprocess.run(command, env=os.environ | addresses, check=False).returncode


if __name__ == "__main__":
    sys.exit(run_with_services(sys.argv[1:]))
