"""Seconds until a Kith on one machine is ready, and what it holds in memory once nobody talks with it.

Kith is started by its own runner in a folder of its own, as `make up` starts it, with the rehearsal model and the
built-in embedder. Memory is the proportional set size: a page that processes share is counted once, in parts.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from config.up.ports import find_free_port

ROOT = Path(__file__).absolute().parents[2]
TURNS = 10
QUIET_SECONDS = 300
READY_TIMEOUT_SECONDS = 300
SENTENCE = "Day {day}: my cat Pim was afraid of the thunder, and I baked bread for my sister Ada."


@contextmanager
def running_kith(home: Path, port: int, **settings: str) -> Iterator[tuple[psutil.Process, float]]:
    """Run Kith on `home`: the runner's process, and the seconds until it was ready. `settings` are its environment's."""
    environment = {**os.environ, "KITH_HOME": str(home), "PORT": str(port), "KITH_REHEARSAL": "1", **settings}
    for name in ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"):
        environment.pop(name, None)
    began = time.monotonic()
    with (home.parent / "up.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "config.up"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
    try:
        _wait_until_ready(process, home.parent / "up.log", began)
        yield psutil.Process(process.pid), time.monotonic() - began
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(READY_TIMEOUT_SECONDS)
        (home.parent / "up.log").unlink()


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path, began: float) -> None:
    while "Kith is ready" not in log.read_text():
        if process.poll() is not None or time.monotonic() - began > READY_TIMEOUT_SECONDS:
            raise RuntimeError(log.read_text())
        time.sleep(0.05)


class Person:
    """Somebody with an account on the running Kith, who uses its API."""

    def __init__(self, home: Path, port: int) -> None:
        self._environment = {**os.environ, "KITH_HOME": str(home), "PORT": str(port)}
        self._url = f"http://127.0.0.1:{port}/api/v1"
        self._manage("create_account", "someone@example.org", "--password", "a-long-enough-password")
        self._token = self._manage("create_token", "someone@example.org")

    def _manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self._environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to a POST of the body, or without one to a GET."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._url}{path}", content, headers)
        with urllib.request.urlopen(request, timeout=600) as response:
            answer: dict[str, Any] = json.loads(response.read() or b"{}")
        return answer


def live_through(home: Path, port: int) -> None:
    """Have ten turns with a new companion, and close the session."""
    person = Person(home, port)
    companion = person.ask("/companions", {"name": "Mira"})["id"]
    for day in range(TURNS):
        said = person.ask(f"/companions/{companion}/messages", {"text": SENTENCE.format(day=day)})
        if (state := said["reply"]["state"]) != "done":
            raise RuntimeError(f"A reply ended as {state}.")
    person.ask(f"/companions/{companion}/close", {})


def measure_memory(runner: psutil.Process, home: Path) -> dict[str, float]:
    """Return the megabytes of each of Kith's processes with its children, by the process's name."""
    named = {pid: name for name, pid, *_ in json.loads((home / "processes.json").read_text())}
    families = {psutil.Process(pid): name for pid, name in named.items()}
    held = {"runner": _megabytes(runner)}
    for process, name in families.items():
        held[name] = sum(map(_megabytes, [process, *process.children(recursive=True)]))
    return held


def _megabytes(process: psutil.Process) -> float:
    return float(process.memory_full_info().pss) / 1e6


def run(quiet_seconds: int) -> None:
    """Start Kith twice, talk, wait, and print what was measured."""
    with tempfile.TemporaryDirectory(prefix="kith-idle-") as folder:
        Path(folder).chmod(0o755)  # Postgres runs as an account of its own where we are root
        home, port = Path(folder) / "home", find_free_port()
        with running_kith(home, port) as (_, first):
            print(f"\nReady after {first:.1f} s the first time, with a new database,", end=" ", flush=True)
        with running_kith(home, port) as (runner, again):
            print(f"and after {again:.1f} s the second time.")
            at_start = measure_memory(runner, home)
            live_through(home, port)
            talked = measure_memory(runner, home)
            time.sleep(quiet_seconds)
            idle = measure_memory(runner, home)
    print(f"\nMemory (PSS) in MB{'':6}{'ready':>10}{'talked':>10}{f'{quiet_seconds} s later':>14}")
    for name in idle:
        print(f"  {name:<22}{at_start[name]:>10.0f}{talked[name]:>10.0f}{idle[name]:>14.0f}")
    sums = [sum(held.values()) for held in (at_start, talked, idle)]
    print(f"  {'in all':<22}{sums[0]:>10.0f}{sums[1]:>10.0f}{sums[2]:>14.0f}")
