"""What a child could not answer completely is not taken for its answer."""

import errno
import sys
import tempfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from jobs.sandbox import SandboxError, run_in_sandbox

FULL = Path("/dev/full")  # which takes nothing that is written to it


def test_the_beginning_of_an_answer_is_no_answer() -> None:
    with pytest.raises(SandboxError):
        run_in_sandbox([sys.executable, "-c", "print('{}\\nhalf'); raise SystemExit(1)"], b"")


if FULL.exists():

    def test_a_file_is_not_to_blame_for_a_full_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
        with tempfile.TemporaryFile() as given, FULL.open("r+b", buffering=0) as answer:
            monkeypatch.setattr(tempfile, "TemporaryFile", Mock(side_effect=[given, answer]))
            with pytest.raises(OSError, match="space") as error:
                run_in_sandbox([sys.executable, "-c", "print('{}')"], b"")
        assert error.value.errno == errno.ENOSPC
