"""Two small files in Kith's home, by which Kith tells `make up` which engines to run, and learns where they run.

`engines.json`, written from the database, says which model files are to be run, by their providers' ids.
`engines-running.json`, written by `make up`, says on which port each engine listens, and how often it ended.
"""

import http.client
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TypeVar

LOOPBACK = "127.0.0.1"
HEALTH_TIMEOUT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class WantedEngine:
    """A model file that is to be run: the model's name in requests, and how it is run, for chat or for embedding."""

    file: str
    name: str
    context_tokens: int
    slots: int
    threads: int
    is_embedding: bool = False


@dataclass(frozen=True, slots=True)
class RunningEngine:
    """An engine's port, and how often the engine ended since it last ran steadily."""

    port: int
    ends: int = 0

    @property
    def base_url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/v1"


Engine = TypeVar("Engine", WantedEngine, RunningEngine)
NOT_STARTED = RunningEngine(port=1)  # nothing listens on this port, so requests are refused at once


class Health(Enum):
    """What answers on an engine's port."""

    NOTHING = "nothing"
    LOADING = "loading"
    READY = "ready"


def get_wanted_path(home: Path) -> Path:
    return home / "engines.json"


def get_running_path(home: Path) -> Path:
    return home / "engines-running.json"


def read_wanted(home: Path) -> dict[int, WantedEngine]:
    """Return the engines that are to run, keyed by their providers' ids."""
    return _read(get_wanted_path(home), WantedEngine)


def write_wanted(home: Path, engines: Mapping[int, WantedEngine]) -> None:
    """Write which engines are to run, replacing all that were wanted before."""
    _write(get_wanted_path(home), engines)


def read_running(home: Path) -> dict[int, RunningEngine]:
    """Return the engines that were started, keyed by their providers' ids."""
    return _read(get_running_path(home), RunningEngine)


def write_running(home: Path, engines: Mapping[int, RunningEngine]) -> None:
    """Write which engines were started, replacing all that were written before."""
    _write(get_running_path(home), engines)


def read_health(port: int) -> Health:
    """Return what answers on the port within HEALTH_TIMEOUT_SECONDS."""
    with closing(http.client.HTTPConnection(LOOPBACK, port, timeout=HEALTH_TIMEOUT_SECONDS)) as connection:
        try:
            connection.request("GET", "/health")
            is_ready = connection.getresponse().status == http.client.OK
        except ConnectionRefusedError:
            return Health.NOTHING
        except (OSError, http.client.HTTPException):
            return Health.LOADING
    return Health.READY if is_ready else Health.LOADING


def _read(path: Path, kind: type[Engine]) -> dict[int, Engine]:
    with suppress(FileNotFoundError):
        return {int(id): kind(**fields) for id, fields in json.loads(path.read_text()).items()}
    return {}


def _write(path: Path, engines: Mapping[int, WantedEngine | RunningEngine]) -> None:
    """Replace the file atomically. Only this user may read it, since it names files of the operator's."""
    descriptor, new = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            json.dump({id: asdict(engine) for id, engine in engines.items()}, file)
        Path(new).replace(path)
    except OSError:  # e.g. the disk is full: this is tried again and again
        Path(new).unlink()
        raise
