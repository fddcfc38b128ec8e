"""What of the children's logs is shown, and how much is kept."""

from pathlib import Path

import pytest

from config.up import supervisor
from config.up.processes import COMPLAINT
from config.up.supervisor import Tail, last_line, rotate


def test_errors_are_counted_and_told_once_in_a_while(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "web.log"
    tail = Tail("web", log, COMPLAINT)
    log.write_text('{"event": "it broke", "level": "error"}\n{"event": "all well", "level": "info"}\n')
    tail.look(0.0)
    with log.open("a") as more:
        more.write("ERROR: second\nERROR: third\n")
    tail.look(1.0)
    assert capsys.readouterr().out == f"web: it broke (more in {log})\n"

    tail.look(31.0)
    assert capsys.readouterr().out == f"web: 2 errors, the last: ERROR: third (more in {log})\n"


def test_half_a_line_waits_for_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "web.log"
    tail = Tail("web", log, COMPLAINT)
    log.write_text("ERR")
    tail.look(0.0)
    with log.open("a") as more:
        more.write("OR: whole\n")
    tail.look(1.0)
    assert capsys.readouterr().out == f"web: ERROR: whole (more in {log})\n"


def test_a_log_that_has_grown_too_long_starts_anew(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * supervisor.LOG_BYTES + b"\n")
        Tail("web", log, COMPLAINT).look(0.0)
        writer.write(b"afterwards\n")
    assert log.read_bytes() == b"afterwards\n"
    assert (tmp_path / "web.log.1").stat().st_size == supervisor.LOG_BYTES + 1


def test_the_log_of_the_run_before_is_kept_aside(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("yesterday\n")
    rotate(log)
    assert not log.exists()
    assert (tmp_path / "web.log.1").read_text() == "yesterday\n"


def test_last_words_are_short_and_plain(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    assert last_line(log) == ""
    log.write_text('first\n{"event": "' + "a" * 500 + '"}\n')
    assert last_line(log) == "a" * (supervisor.SAID_CHARACTERS - 1) + "…"
