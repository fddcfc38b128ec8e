"""Keeping processes running, on small programs that do nothing else."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from config.up.ports import find_free_port, is_healthy
from config.up.processes import Program
from config.up.run import Run
from config.up.supervisor import Supervisor, end_recorded
from config.up.terminal import Stop, StoppedError

pytestmark = pytest.mark.processes

WEB = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1"]
SLEEPER = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-S",
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)",
]
PARENT = """
import sys
from pathlib import Path
from config.up.processes import Program
from config.up.supervisor import Supervisor

supervisor = Supervisor(Path(sys.argv[1]))
for name in ("one", "two"):
    supervisor.start(Program(name, [sys.executable, "-S", "-c", "import time; time.sleep(600)"]))
print("started", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    made = Supervisor(tmp_path)
    yield made
    made.stop(tuple(made.watched))


def until(claim: Callable[[], bool], supervisor: Supervisor | None = None, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not claim() and time.monotonic() < deadline:
        if supervisor is not None:
            supervisor.watch()
        time.sleep(0.02)
    return claim()


def test_a_killed_child_is_started_again(supervisor: Supervisor, capsys: pytest.CaptureFixture[str]) -> None:
    child = supervisor.start(Program("sleeper", SLEEPER))
    first = child.pid
    os.kill(first, signal.SIGKILL)

    assert until(lambda: child.pid != first and child.is_running(), supervisor)
    assert "sleeper was ended by SIGKILL; starting it again in 0.5 s" in capsys.readouterr().out


def test_a_child_that_keeps_ending_is_started_ever_later(
    supervisor: Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = [sys.executable, "-S", "-c", "import sys; sys.exit('no luck today')"]
    supervisor.start(Program("unlucky", ending))
    watched = supervisor.watched["unlucky"]

    assert until(lambda: watched.ends == 3, supervisor)
    said = capsys.readouterr().out
    pauses = [
        line.split(" again in ")[1].split(" s")[0] for line in said.splitlines() if " again in " in line
    ]
    assert pauses == ["0.5", "1", "2"]
    assert "its last words: no luck today" in said


def test_the_last_words_of_a_child_that_cannot_begin_are_its_complaint(
    supervisor: Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = '{"level": "error", "event": "address already in use"}', '{"level": "info", "event": "shut down"}'
    supervisor.start(Program("web", [sys.executable, "-S", "-c", f"for line in {lines}: print(line)"]))
    watched = supervisor.watched["web"]

    assert until(lambda: watched.ends == 1, supervisor)
    assert "its last words: address already in use" in capsys.readouterr().out


def test_a_child_that_ran_long_starts_again_soon(supervisor: Supervisor) -> None:
    supervisor.start(Program("sleeper", SLEEPER))
    watched = supervisor.watched["sleeper"]
    watched.ends = 6

    assert watched.pause_seconds(watched.started_at + 1) == 30.0
    assert watched.pause_seconds(watched.started_at + 61) == 0.5


def test_children_end_with_a_parent_that_is_killed_and_nothing_stops_the_next_start(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"started\n"
    pids = [pid for _, pid, *_ in json.loads((tmp_path / "processes.json").read_text())]
    children = [psutil.Process(pid) for pid in pids]
    assert len(children) == 2

    parent.kill()
    parent.wait()

    assert psutil.wait_procs(children, timeout=30)[1] == []


def test_a_recorded_process_of_an_earlier_run_is_ended(tmp_path: Path) -> None:
    orphan = subprocess.Popen(SLEEPER)
    created = psutil.Process(orphan.pid).create_time()
    records = tmp_path / "processes.json"
    records.write_text(json.dumps([["sleeper", orphan.pid, created]]))

    assert end_recorded(records) == ["sleeper"]
    assert not psutil.pid_exists(orphan.pid)
    assert not records.exists()


def test_another_process_that_got_the_same_id_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(SLEEPER)
    created = psutil.Process(stranger.pid).create_time()
    records = tmp_path / "processes.json"
    records.write_text(json.dumps([["sleeper", stranger.pid, created - 3600]]))

    assert end_recorded(records) == []
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_copy_of_the_data_folder_leaves_the_originals_processes_alone(
    supervisor: Supervisor, tmp_path_factory: pytest.TempPathFactory
) -> None:
    child = supervisor.start(Program("sleeper", SLEEPER))
    copy = shutil.copytree(supervisor.home, tmp_path_factory.mktemp("copy") / "home")
    Supervisor(copy).end_orphans()
    assert child.is_running()
    Supervisor(supervisor.home).end_orphans()
    assert not child.is_running()


@pytest.mark.parametrize("text", ["", "[[", "{}", '[["web"]]', "[1]"])
def test_records_that_were_cut_off_stop_nothing(tmp_path: Path, text: str) -> None:
    records = tmp_path / "processes.json"
    records.write_text(text)
    assert end_recorded(records) == []


def test_a_child_that_does_not_stop_is_ended(
    supervisor: Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    child = supervisor.start(Program("stubborn", STUBBORN, stop_seconds=0.3))
    assert until(lambda: child.log_path.read_text() == "deaf\n")

    supervisor.stop(("stubborn",))

    assert not child.is_running()
    assert "stubborn did not stop" in capsys.readouterr().out


def test_groups_are_stopped_one_after_another(supervisor: Supervisor, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    script = (
        "import pathlib, signal, sys, time\n"
        "def end(*_):\n"
        "    with open(sys.argv[1], 'a') as file: file.write(sys.argv[2])\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('listening', flush=True)\n"
        "time.sleep(600)\n"
    )
    for name in ("data", "web"):
        child = supervisor.start(Program(name, [sys.executable, "-S", "-c", script, str(ended), f"{name} "]))
        assert until(lambda log=child.log_path: log.read_text() == "listening\n")

    supervisor.stop(("web",), ("data",))

    assert ended.read_text() == "web data "


def test_what_happens_on_the_terminal_is_not_sent_to_the_children(supervisor: Supervisor) -> None:
    child = supervisor.start(Program("sleeper", SLEEPER))
    assert os.getsid(child.pid) == child.pid


if sys.platform == "linux":  # the only one that has a device which is always full

    def test_while_the_disk_is_full_kith_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """What ends is restarted, and recorded once there is room."""
        run = Run(tmp_path, find_free_port(), Stop())
        sleeper = run.supervisor.start(Program("sleeper", SLEEPER))
        records, new = tmp_path / "processes.json", tmp_path / "processes.new"
        new.symlink_to("/dev/full")
        sleeper.kill()

        def free_the_disk() -> None:
            assert until(sleeper.is_running)
            time.sleep(1)
            new.unlink()
            assert until(lambda: f", {sleeper.pid}," in records.read_text())
            run.stop.is_wished = True

        with ThreadPoolExecutor(1) as threads:
            freed = threads.submit(free_the_disk)
            with pytest.raises(StoppedError):
                run.stay()
            freed.result()
        run.supervisor.stop(("sleeper",))
        said = capsys.readouterr().out
        assert said.count(f"The disk of Kith's data folder {tmp_path} is full. Free some space") == 1


def test_the_answer_of_another_kith_on_the_port_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    (tmp_path / "healthz").write_text("{}")
    port = find_free_port()
    with subprocess.Popen([*WEB, str(port)], cwd=tmp_path, stderr=subprocess.DEVNULL) as other:
        try:
            until(lambda: is_healthy(port, "", other.pid))
            assert not is_healthy(port, "", os.getpid())
        finally:
            other.kill()
    assert not is_healthy(port, "", other.pid)
