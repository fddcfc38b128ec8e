"""The virtual environment in which another system runs; nothing of it comes into Kith's own."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

WANTED = Path(__file__).with_name("mem0.txt")


class VenvError(RuntimeError):
    """Why the other system cannot be installed here, in pip's own last words."""


def python_with(folder: Path, *more: str, wanted: Path = WANTED) -> Path:
    """The Python of the environment in `folder`, with what the file lists and more installed; raises VenvError."""
    python, stamp = folder / "bin" / "python", folder / "installed"
    digest = hashlib.sha256(wanted.read_bytes() + " ".join(more).encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == digest:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)], "Python could not make a virtual environment")
    install = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    _run([*install, "-r", str(wanted), *more], f"pip could not install {wanted.name}")
    stamp.write_text(digest)
    return python


def _run(command: list[str], complaint: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise VenvError(f"{complaint}: {last_words(done.stdout)}")


def last_words(said: str) -> str:
    """The last line with ERROR in it, else the last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line]
    return (errors or lines or ["it did not say why"])[-1]
