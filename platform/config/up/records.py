"""Which processes `up` has started, on disk, so that what an `up` that was killed left behind can be ended."""

import json
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from config.up.child import Child

CLOCK_SECONDS = 2.0  # how far two readings of one process's start may lie apart


class Record(NamedTuple):
    """One process: its id alone would soon be another's."""

    name: str
    pid: int
    created: float


def write_records(path: Path, children: Iterable[Child]) -> None:
    """Replaces the file by what is running now."""
    rows = [Record(child.program.name, child.pid, child.created) for child in children if child.is_running()]
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(rows))
    beside.replace(path)


def end_recorded(path: Path) -> list[str]:
    """Ends every recorded process that still runs; returns their names."""
    left = {process: record.name for record in _read(path) if (process := _process(record))}
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in [process for process in left if process.is_running()]:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        psutil.wait_procs(list(left), timeout=5)
    path.unlink(missing_ok=True)
    return list(left.values())


def _read(path: Path) -> list[Record]:
    with suppress(FileNotFoundError, ValueError, TypeError):  # a file that was cut off names nobody
        return [Record(*row) for row in json.loads(path.read_text())]
    return []


def _process(record: Record) -> psutil.Process | None:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(record.pid)
        is_same = abs(process.create_time() - record.created) < CLOCK_SECONDS
        return process if is_same and process.status() != psutil.STATUS_ZOMBIE else None
    return None
