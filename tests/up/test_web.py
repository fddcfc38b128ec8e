"""The web process loads while the tables are brought up to date, and serves once they are."""

import sys
from pathlib import Path
from typing import Any

import pytest

from config.up import web


def test_a_web_process_serves_once_its_file_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tmp_path / "prepared"
    happened: list[Any] = []

    def wait(seconds: float) -> None:
        happened.append("waited")
        if len(happened) == 2:
            prepared.touch()

    monkeypatch.setattr(sys, "argv", ["web", "--port", "8000", "--after", str(prepared)])
    monkeypatch.setattr("time.sleep", wait)
    monkeypatch.setattr("uvicorn.run", lambda _application, **options: happened.append(options["port"]))
    web.main()
    assert happened == ["waited", "waited", 8000]
