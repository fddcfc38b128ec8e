"""A rehearsal server in a process of its own, for tests and benches."""

import json
import os
import subprocess
import sys
from pathlib import Path
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
            self._process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def script(self, *steps: dict[str, Any]) -> None:
        """Add steps (see script.Step); each is used up by one chat request."""
        self._send("script", list(steps))

    def script_sound(self, *steps: dict[str, Any]) -> None:
        """Add steps; each is used up by one request for speech, or for a transcription where its `capability` says so."""
        self._send("script", [{"capability": "speech"} | step for step in steps])

    def reset(self) -> None:
        """Forget script, ledger and requests."""
        self._send("reset", {})

    def ledger(self) -> list[dict[str, Any]]:
        """Every chat request with the server's own token count, oldest first."""
        return list(self._send("ledger"))

    def requests(self) -> list[dict[str, Any]]:
        """The last 200 chat requests as they came, oldest first."""
        return list(self._send("requests"))

    def sound_requests(self) -> list[dict[str, Any]]:
        """The last 200 requests for sound as they came, oldest first."""
        return list(self._send("sound"))

    def _send(self, name: str, content: object = None) -> Any:
        url = f"{self.url.removesuffix('/v1')}/control/{name}"
        body = None if content is None else json.dumps(content).encode()
        with urlopen(Request(url, data=body), timeout=10) as response:  # noqa: S310
            return json.load(response)
