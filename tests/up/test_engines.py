"""Kith's own engines follow what is wanted while Kith runs: with the real engine and a real model."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.up.engines import Engines, get_name
from config.up.run import ROOT
from config.up.supervisor import Supervisor, last_line
from providers.engine.registry import (
    Health,
    WantedEngine,
    get_running_path,
    read_health,
    read_running,
    write_wanted,
)
from tests.fixtures.gguf import write_gguf
from tests.fixtures.model_files import find_model

pytestmark = [pytest.mark.processes, pytest.mark.timeout(900)]
SMALL = WantedEngine(str(find_model()), "small", 1024, 1, 1)


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[Engines]:
    supervisor = Supervisor(tmp_path)
    environment = {"PYTHONPATH": str(ROOT / "platform"), "KITH_ENGINE_KEY": "of-this-run"}
    yield Engines(supervisor, lambda program: supervisor.start(program.within(ROOT, environment)))
    supervisor.stop(tuple(supervisor.watched))


def watch_until(engines: Engines, claim: Callable[[], bool], seconds: float = 300.0) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline
        engines.supervisor.watch()
        engines.look()
        time.sleep(0.1)


def test_an_engine_is_started_started_again_changed_and_ended(engines: Engines) -> None:
    home = engines.supervisor.home

    def is_ready() -> bool:
        running = read_running(home)
        return 1 in running and read_health(running[1].port) is Health.READY

    engines.look()
    assert not get_running_path(home).exists()
    write_wanted(home, {1: SMALL})
    watch_until(engines, is_ready)
    first = engines.supervisor.watched[get_name(1)].child

    assert first.process is not None
    first.process.kill()
    first.process.wait()
    watch_until(engines, lambda: read_running(home)[1].ends == 1)
    watch_until(engines, is_ready)

    write_wanted(home, {1: WantedEngine(SMALL.file, "small", 2048, 1, 1)})
    watch_until(engines, lambda: not first.is_running())
    watch_until(engines, is_ready)

    last = engines.supervisor.watched[get_name(1)].child
    write_wanted(home, {})
    engines.look()
    assert not last.is_running()
    assert (read_running(home), engines.supervisor.watched) == ({}, {})


def test_a_file_that_cannot_be_run_is_told_by_its_ends_and_its_last_words(
    engines: Engines, tmp_path: Path
) -> None:
    odd = write_gguf(tmp_path / "odd.gguf", {"general.architecture": "nothing"})
    write_wanted(tmp_path, {7: WantedEngine(str(odd), "odd", 1024, 1, 1)})
    watch_until(engines, lambda: 7 in read_running(tmp_path) and read_running(tmp_path)[7].ends > 0)
    # It is started again at once, and its first words may have taken the place of the last ones.
    watch_until(engines, lambda: "llama.cpp cannot run" in last_line(tmp_path / "logs" / "engine-7.log"))
