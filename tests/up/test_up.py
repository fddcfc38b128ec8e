"""The whole of `make up` as a person has it: started, hurt, killed and stopped."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from config.up.home import load_secrets
from tests.fixtures.up import ROOT, Up

pytestmark = pytest.mark.processes

NAMES = {"postgres", "redis", "rehearsal", "web", "worker"}


@pytest.fixture(scope="module")
def up(shared_folder: Path) -> Iterator[Up]:
    made = Up(shared_folder / "home")
    made.environment |= {"KITH_CONTACT": "Olive, olive@example.org", "SECRET_KEY": ""}
    made.start()
    yield made
    for process in made.left():
        process.kill()


@pytest.mark.timeout(600)  # it waits for the whole of Kith to start, three times over
def test_a_whole_day_with_kith(up: Up) -> None:
    """One story, since a start takes seconds: first run, a second start, kills, Ctrl-C and the next start."""
    assert set(up.pids()) == NAMES
    assert re.search(r"operator@kith\.local\n  \S{12,}\n", up.said)
    assert "not a language" in up.said
    assert str(up.home / "mail") in up.said
    assert up.health()[0] == 200
    stamps = [(up.home / name).stat().st_mtime_ns for name in ("static/.stamp", "prepared")]
    assert stamps == sorted(
        stamps
    )  # the web process, which waits for the second, has loaded before the first
    names = json.loads((up.home / "static/staticfiles.json").read_text())["paths"]
    with urlopen(f"http://127.0.0.1:{up.port}/static/{names['css/base.css']}") as styles:
        assert styles.status == 200
    logs = [path.name for path in (up.home / "logs").iterdir()]
    assert {"web.log", "worker.log", "postgres.log"} <= set(logs)
    for path in (*(up.home / "logs").iterdir(), *(path for path in up.home.iterdir() if path.is_file())):
        assert path.stat().st_mode & 0o077 == 0, path

    account = [sys.executable, "manage.py", "create_account", "tom@example.org", "--password", "a quiet one"]
    beside = subprocess.run(account, env=up.environment, cwd=ROOT, capture_output=True, text=True)
    assert (beside.returncode, beside.stdout) == (0, ""), beside.stderr
    handed_on = (up.home / "running").read_text().splitlines()
    assert "KITH_CONTACT=Olive, olive@example.org" in handed_on
    assert f"SECRET_KEY={load_secrets(up.home)['SECRET_KEY']}" in handed_on
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
        up.await_words(f"{name} has been started again.")
    _until(up.is_well)
    assert not set(killed.values()) & set(up.pids().values())

    os.kill(up.process.pid, signal.SIGKILL)
    up.process.wait()
    _until(lambda: up.left() == [])

    up.said_path.write_text("")
    up.start()
    assert "operator@kith.local" not in up.said
    os.killpg(up.process.pid, signal.SIGINT)
    assert up.process.wait(timeout=60) == 0
    assert up.left() == []
    assert up.said.endswith("Stopping ...\nKith has stopped.\n")


def _until(claim, seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.1)
