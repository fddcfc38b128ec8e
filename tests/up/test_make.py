"""The Makefile, which finds Kith in whatever folder it was put."""

import shutil
import subprocess
from pathlib import Path

from tests.fixtures.up import ROOT


def test_make_up_runs_in_a_folder_whose_name_has_a_space(tmp_path: Path) -> None:
    folder = tmp_path / "my kith"
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "python $*"\n')
    python.chmod(0o755)
    shutil.copy(ROOT / "Makefile", folder)

    made = subprocess.run(["make", "up", "PYTHON=true"], cwd=folder, capture_output=True, text=True)

    assert "python -m config.up --with-parent\n" in made.stdout, made.stderr
