"""What keeps Kith from starting gets one line, status 1 and no traceback; whoever runs the tests, root or not."""

import errno
import fcntl
import hashlib
import os
import signal
import socket
import subprocess
import sys
import venv
from pathlib import Path
from urllib.parse import urlsplit

import pip
import pytest
from django.db import connection

from config.up.install import InstallError, require_python
from config.up.ports import find_free_port
from config.up.run import Run
from config.up.terminal import Stop, UpError

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]
ADDRESSES = {"DATABASE_URL", "REDIS_URL", "LLM_BASE_URL", "LLM_MODEL"}


def refusal(home: Path | str, lines: int = 1, **more: str) -> str:
    """The lines that `up` says before it gives up."""
    given = {name: value for name, value in os.environ.items() if name not in ADDRESSES}
    settings = {
        "KITH_HOME": str(home),
        "PORT": str(find_free_port()),
        "PYTHONPATH": str(ROOT / "platform"),
        **more,
    }
    ended = subprocess.run(
        [sys.executable, "-m", "config.up"],
        env=given | settings,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (1, "")
    assert ended.stdout.count("\n") == lines
    return ended.stdout.strip()


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert refusal(tmp_path, PORT=str(port)).startswith(f"Port {port} is in use")


def test_a_database_of_which_a_part_was_restored(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "base").mkdir(parents=True)
    said = refusal(tmp_path, lines=2)
    assert f"{tmp_path}/postgres is not a whole PostgreSQL: it lacks the file PG_VERSION." in said
    assert [path.name for path in (tmp_path / "postgres").iterdir()] == ["base"]


@pytest.mark.parametrize("port", ["0", "65536", "eight", "-1"])
def test_a_port_that_is_none(tmp_path: Path, port: str) -> None:
    assert refusal(tmp_path, PORT=port).startswith(f"PORT is '{port}'")


def test_a_data_folder_that_another_run_holds(tmp_path: Path) -> None:
    with (tmp_path / "up.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("4242\n")
        lock.flush()
        assert refusal(tmp_path).startswith(f"Kith is already running on {tmp_path} (process 4242)")


def test_a_data_folder_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"
    assert refusal(home).startswith(f"Kith cannot write to its data folder {home}: Not a directory")


def test_a_data_folder_that_nobody_can_write_to() -> None:
    home = "/sys/kith" if sys.platform == "linux" else "/System/kith"
    assert refusal(home).startswith(f"Kith cannot write to its data folder {home}: ")


def test_a_port_that_only_root_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_socket: socket.socket, _address: object) -> None:
        raise PermissionError(
            errno.EACCES, "Permission denied"
        )  # as the system does, but not to root or everywhere

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(UpError, match="Port 80 may be used by root only"):
        Run(tmp_path, 80, Stop(), {})._require_port()


if sys.platform == "linux":  # the only one that has a device which is always full

    def test_a_full_data_folder(tmp_path: Path) -> None:
        (tmp_path / ".probe").symlink_to("/dev/full")
        assert refusal(tmp_path).startswith(f"The disk of Kith's data folder {tmp_path} is full")

    def test_a_disk_that_becomes_full_while_kith_starts_is_told_as_such(tmp_path: Path) -> None:
        (tmp_path / ".probe").symlink_to("/dev/full")
        run = Run(tmp_path, find_free_port(), Stop(), {"DJANGO_SETTINGS_MODULE": "nowhere"})
        with pytest.raises(OSError, match="No space left on device"):
            run._run_module("config.up.prepare")


def test_a_wrong_setting_is_told_in_one_sentence_before_anything_is_started(tmp_path: Path) -> None:
    (tmp_path / "running").write_text("KITH_URL=ftp://example.org\n")  # of a run that was killed
    line = refusal(tmp_path, KITH_SIGNUP="maybe")
    assert line.startswith("Kith could not be prepared: KITH_SIGNUP is 'maybe'; it must be one of: open, ")


def test_a_database_that_does_not_answer(tmp_path: Path) -> None:
    address = f"postgresql://kith:secret@127.0.0.1:{find_free_port()}/kith"
    line = refusal(tmp_path, DATABASE_URL=address)
    assert line.startswith("DATABASE_URL (127.0.0.1:")
    assert "does not answer" in line
    assert "secret" not in line


def test_a_redis_that_does_not_answer(tmp_path: Path) -> None:
    line = refusal(
        tmp_path,
        DATABASE_URL=os.environ["DATABASE_URL"],
        REDIS_URL=f"redis://:secret@127.0.0.1:{find_free_port()}/0",
    )
    assert line.startswith("REDIS_URL (127.0.0.1:")
    assert "secret" not in line


def prepare(home: Path, database: str) -> str:
    """The last line that `config.up.prepare` says, without `make up` around it, before it gives up."""
    ended = subprocess.run(
        [sys.executable, "-m", "config.up.prepare"],
        env=os.environ | {"KITH_HOME": str(home), "DATABASE_URL": database},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1
    assert "secret" not in ended.stderr
    return ended.stderr.splitlines()[-1]


def test_a_database_of_ones_own_that_cannot_be_prepared_is_told_as_such(tmp_path: Path) -> None:
    line = prepare(tmp_path, f"postgresql://kith:secret@127.0.0.1:{find_free_port()}/kith")
    assert line.startswith("DATABASE_URL (127.0.0.1:")
    assert "does not answer" in line


@pytest.mark.django_db
def test_a_database_that_fails_while_it_is_prepared_is_told_as_such(tmp_path: Path) -> None:
    address = urlsplit(os.environ["DATABASE_URL"])._replace(
        path=f"/{connection.settings_dict['NAME']}", query="options=-c%20lock_timeout%3D1ms"
    )
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE django_migrations")
        line = prepare(tmp_path, address.geturl())
    assert line == "the database failed: canceling statement due to lock timeout"


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (("DATABASE_URL", "postgresql://kith:secret@127.0.0.1:1/kith"), "The database failed: "),
        (("DATABASE_POOL", "0"), "DATABASE_POOL is 0; "),
    ],
)
def test_a_command_without_a_database_or_with_a_wrong_setting(
    tmp_path: Path, setting: tuple[str, str], told: str
) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", "create_token", "tom@example.org"],
        env=os.environ | {"KITH_HOME": str(tmp_path)} | dict([setting]),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert ended.stderr.startswith(told)
    assert "secret" not in ended.stderr


def test_a_python_that_is_too_old() -> None:
    require_python((3, 11, 0))
    with pytest.raises(InstallError, match=r"Kith needs Python 3\.11 or newer, but .* is 3\.10"):
        require_python((3, 10, 14))


@pytest.fixture
def installer(tmp_path: Path) -> list[str]:
    """The command of a copy of the installer with a folder of its own, whose requirement does not exist."""
    script = tmp_path / "platform" / "config" / "up" / "install.py"
    script.parent.mkdir(parents=True)
    script.write_text((ROOT / "platform/config/up/install.py").read_text())
    (tmp_path / "requirements.txt").write_text("./no-such-folder\n")
    venv.create(tmp_path / ".venv")
    packages = next((tmp_path / ".venv" / "lib").glob("python*/site-packages"))
    (packages / "ours.pth").write_text(str(Path(pip.__file__).parents[1]))  # to make a pip anew takes seconds
    return [sys.executable, "-I", str(script)]


def start(command: list[str]) -> subprocess.Popen[str]:
    """Start the command, with nothing of the environment but the way to programs."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={"PATH": os.environ["PATH"]})


def test_a_package_that_pip_cannot_install(installer: list[str]) -> None:
    """No registry is asked."""
    ended = start(installer)
    said, errors = ended.communicate()
    assert (ended.returncode, errors) == (1, "")
    assert said.splitlines()[-1].startswith("pip could not install requirements.txt: ")
    assert "no-such-folder" in said


def test_two_that_install_at_once_make_what_was_left_incomplete_anew_together(
    tmp_path: Path, installer: list[str]
) -> None:
    (tmp_path / ".venv" / "incomplete").touch()  # as if it had been killed while pip was copied
    ended = [process.communicate()[0].splitlines() for process in (start(installer), start(installer))]
    assert all(said[-1].startswith("pip could not install requirements.txt: ") for said in ended)
    assert sum(said.count("Creating .venv ...") for said in ended) == 1
    assert not (tmp_path / ".venv" / "incomplete").exists()


def test_packages_of_a_python_that_is_too_old_are_replaced(tmp_path: Path, installer: list[str]) -> None:
    python, code = (
        tmp_path / ".venv/bin/python",
        "import sys; sys.version_info = (3, 10, 14); exec(sys.argv[2])",
    )
    python.unlink()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$@"\n')
    python.chmod(0o755)
    with start(installer) as process:
        said = process.stdout.readline() if process.stdout else ""
        process.send_signal(signal.SIGINT)
    assert said == "Creating .venv ...\n"


def test_where_all_is_installed_nothing_is_written(tmp_path: Path, installer: list[str]) -> None:
    """Kith may be run by an account that cannot write to it."""
    stamps = tmp_path / ".venv" / "installed"
    stamps.mkdir()
    for name in ("requirements.txt", "requirements-weights.txt"):
        text = (tmp_path / "requirements.txt").read_bytes()
        (tmp_path / name).write_bytes(text)
        (stamps / name).write_text(hashlib.sha256(text).hexdigest())
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    ended = subprocess.run(installer, check=True, capture_output=True, env={"PATH": "/nowhere"})
    assert not ended.stderr
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
