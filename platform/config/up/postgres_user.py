"""Postgres refuses to run as root: there it gets an account of its own, and a way to its files."""

import os
import pwd
import shutil
import stat
import subprocess
from pathlib import Path

from config.up.errors import UpError

ACCOUNT = "kith-postgres"


def postgres_user() -> str | None:
    """The account that Postgres runs as: None for our own; for root another, made when first needed."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        _make_account()
    return ACCOUNT


def _make_account() -> None:
    command = shutil.which("useradd")
    if command is None:
        raise UpError(
            f"Postgres cannot run as root: make an account named {ACCOUNT}, or start Kith as another user."
        )
    made = subprocess.run(
        [command, "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise UpError(
            f"Postgres cannot run as root, and no account {ACCOUNT} could be made: {made.stderr.strip()}"
        )


def give(path: Path, user: str | None) -> None:
    """Makes `user` the owner of a file or folder, and able to reach it; nothing to do for None."""
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(path, entry.pw_uid, entry.pw_gid)
        open_way_to(path)


def open_way_to(path: Path) -> None:
    """Lets other accounts pass through (not read) the folders above `path`."""
    for folder in path.resolve().parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def open_for_reading(folder: Path) -> None:
    """Lets other accounts read and run what lies in `folder`, which a strict umask at its installation forbade."""
    open_way_to(folder)
    for path in [folder, *folder.rglob("*")]:
        if path.is_symlink():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if wanted != mode:
            path.chmod(wanted)
