"""A rehearsal server in a process of its own, for tests and benches."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.request import Request, urlopen

SOURCE_ROOT = Path(__file__).resolve().parents[2]


class RehearsalServer:
    """A context manager: inside it the server answers at `url`, which ends in /v1."""

    def __init__(self, *, port: int = 0, piece_milliseconds: float = 0.0) -> None:
        self._arguments = ["--scriptable", f"--port={port}", f"--piece-milliseconds={piece_milliseconds}"]
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> Self:
        """Start it and wait until it listens; RuntimeError where it ended instead."""
        command = [sys.executable, "-m", "providers.rehearsal", *self._arguments]
        environment = os.environ | {"PYTHONPATH": str(SOURCE_ROOT)}
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603
        assert self._process.stdout is not None  # noqa: S101
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The rehearsal model did not start: it ended with {self._process.wait()}")
        self.url = line.split()[-1]
        return self

    def stop(self) -> None:
        """End it, gently at first; nothing where it does not run."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def script(self, *steps: dict[str, Any]) -> None:
        """Add steps (see script.Step); each is used up by one chat request."""
        self._post("script", list(steps))

    def script_sound(self, *steps: dict[str, Any]) -> None:
        """Add steps (see script.SoundStep); each is used up by one request for sound."""
        self._post("sound", list(steps))

    def sound_requests(self) -> list[dict[str, Any]]:
        """The last 200 requests for sound as they came, oldest first."""
        return list(self._get("sound")["requests"])

    def reset(self) -> None:
        """Forget script, ledger and requests."""
        self._post("reset", {})

    def ledger(self) -> list[dict[str, Any]]:
        """Every chat request with the server's own token count, oldest first."""
        return list(self._get("ledger")["calls"])

    def requests(self) -> list[dict[str, Any]]:
        """The last 200 chat requests as they came, oldest first."""
        return list(self._get("requests")["requests"])

    def _get(self, name: str) -> Any:
        return self._send(Request(self._control(name)))  # noqa: S310

    def _post(self, name: str, body: dict[str, Any] | Sequence[dict[str, Any]]) -> Any:
        return self._send(Request(self._control(name), data=json.dumps(body).encode(), method="POST"))  # noqa: S310

    def _send(self, request: Request) -> Any:
        with urlopen(request, timeout=10) as response:  # noqa: S310
            return json.load(response)

    def _control(self, name: str) -> str:
        return f"{self.url.removesuffix('/v1')}/control/{name}"
