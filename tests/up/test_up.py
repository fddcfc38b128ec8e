"""The whole of `make up` as a person has it: started, hurt, killed and stopped."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from config.up.ports import find_free_port

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]
UNSET = {
    "DATABASE_URL",
    "REDIS_URL",
    "KITH_HOME",
    "PORT",
    "KITH_URL",
    "LLM_BASE_URL",
    "LLM_MODEL",
    "EMAIL_URL",
    "SECRET_KEY",
}
NAMES = {"postgres", "redis", "rehearsal", "web", "worker"}


class Up:
    """`python -m config.up` on one data folder; what it says is kept in `said`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = find_free_port()
        self.said_path = home.with_suffix(".said")
        given = {name: value for name, value in os.environ.items() if name not in UNSET}
        settings = {"KITH_HOME": str(home), "PORT": str(self.port), "PYTHONPATH": str(ROOT / "platform")}
        self.environment = given | settings
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Up":
        with self.said_path.open("ab") as said:
            command = [sys.executable, "-m", "config.up"]
            self.process = subprocess.Popen(
                command, env=self.environment, cwd=ROOT, stdout=said, stderr=said, start_new_session=True
            )
        self.await_words(f"Kith is ready at http://127.0.0.1:{self.port}")
        return self

    @property
    def said(self) -> str:
        return self.said_path.read_text()

    def await_words(self, words: str, seconds: float = 90.0) -> None:
        deadline = time.monotonic() + seconds
        while words not in self.said:
            assert self.process is not None
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.05)

    def pids(self) -> dict[str, int]:
        rows = json.loads((self.home / "processes.json").read_text())
        return {name: pid for name, pid, _ in rows}

    def health(self) -> tuple[int, dict[str, object]]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.request("GET", "/healthz")
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def is_well(self) -> bool:
        try:
            return self.health()[0] == 200
        except OSError:
            return False

    def left(self) -> list[psutil.Process]:
        """Every process that still works for this data folder, ourselves not counted."""
        return [one for one in psutil.process_iter() if _works_for(one, self.home)]


def _works_for(process: psutil.Process, home: Path) -> bool:
    try:
        return process.environ().get("KITH_HOME") == str(home) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@pytest.fixture(scope="module")
def up(shared_folder: Path) -> Iterator[Up]:
    made = Up(shared_folder / "home").start()
    yield made
    for process in made.left():
        process.kill()


def test_a_whole_day_with_kith(up: Up) -> None:
    """One story, since a start takes seconds: first run, a second start, kills, Ctrl-C and the next start."""
    assert set(up.pids()) == NAMES
    assert re.search(r"operator@kith\.local\n  \S{12,}\n", up.said)
    assert "not a language" in up.said
    assert str(up.home / "mail") in up.said
    assert up.health()[0] == 200
    logs = [path.name for path in (up.home / "logs").iterdir()]
    assert {"web.log", "worker.log", "postgres.log"} <= set(logs)
    for path in (*(up.home / "logs").iterdir(), *(path for path in up.home.iterdir() if path.is_file())):
        assert path.stat().st_mode & 0o077 == 0, path

    account = [sys.executable, "manage.py", "create_account", "tom@example.org", "--password", "a quiet one"]
    beside = subprocess.run(account, env=up.environment, cwd=ROOT, capture_output=True, text=True)
    assert (beside.returncode, beside.stdout) == (0, ""), beside.stderr
    assert (up.home / "running").stat().st_mode & 0o077 == 0

    second = subprocess.run(
        [sys.executable, "-m", "config.up"], env=up.environment, capture_output=True, text=True
    )
    assert second.returncode == 1
    assert second.stdout == (
        f"Kith is already running on {up.home} (process {up.process.pid}). "
        "Stop it, or set KITH_HOME to another folder.\n"
    )

    killed = {name: pid for name, pid in up.pids().items() if name in {"postgres", "redis", "web"}}
    for pid in killed.values():
        os.kill(pid, signal.SIGKILL)
    for name in killed:
        up.await_words(f"{name} is started again.")
    _until(up.is_well)
    assert not set(killed.values()) & set(up.pids().values())

    os.kill(up.process.pid, signal.SIGKILL)
    up.process.wait()
    _until(lambda: up.left() == [])

    up.said_path.write_text("")
    up.start()
    assert "operator@kith.local" not in up.said
    os.killpg(up.process.pid, signal.SIGINT)
    assert up.process.wait(timeout=20) == 0
    assert up.left() == []
    assert up.said.endswith("Stopping ...\nKith has stopped.\n")


def _until(claim, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.1)
