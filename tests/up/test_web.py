"""The web process loads while the tables are brought up to date, and serves once they are."""

import sys
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from config.up import web


def test_a_web_process_serves_once_its_file_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tmp_path / "prepared"
    happened: list[Any] = []

    def wait(seconds: float) -> None:
        happened.append("waited")
        if len(happened) == 2:
            prepared.touch()

    def run(application: Any, **options: Any) -> None:
        config = uvicorn.Config(application, **options, log_config=None)
        happened.append((config.host, config.port, config.workers))

    arguments = ["web", "--port", "8000", "--host", "0.0.0.0", "--after", str(prepared)]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setenv("WEB_CONCURRENCY", "2")  # as hosts set it
    monkeypatch.setattr("time.sleep", wait)
    monkeypatch.setattr("uvicorn.run", run)
    web.main()
    assert happened == ["waited", "waited", ("0.0.0.0", 8000, 1)]
