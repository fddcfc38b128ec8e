"""Kith's data folder: creating it, probing it, locking it for one `up` at a time, and the secrets in it."""

import base64
import errno
import fcntl
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from config.up.terminal import UpError

P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # FIPS 186-5, of the curve
PROBE_BYTES = 1 << 20
DISK_IS_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# Of settings: how the names that are Kith's own begin, and the others.
PREFIXES = ("KITH_", "LLM_", "EMBEDDING_", "SPEECH_", "TRANSCRIPTION_", "S3_")
OTHER_NAMES = {"DATABASE_URL", "DATABASE_POOL", "REDIS_URL", "SECRET_KEY", "EMAIL_URL", "DEFAULT_FROM_EMAIL"}
PRIVATE = ("logs", "mail", "media")  # the folder around them lets others pass if Postgres is another user


def _vapid_key() -> str:
    """Return a new private key on P-256 as push tools write it: 32 bytes in base64url, without padding."""
    number = 1 + secrets.randbelow(P256_ORDER - 1)
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).decode().rstrip("=")


SECRET_MAKERS: dict[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(50),
    "KITH_ENCRYPTION_KEY": lambda: base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "KITH_VAPID_KEY": _vapid_key,
    "POSTGRES_PASSWORD": lambda: secrets.token_hex(32),
    "POSTGRES_ROLE_PASSWORD": lambda: secrets.token_hex(32),
    "REDIS_PASSWORD": lambda: secrets.token_hex(32),
}


def load_secrets(home: Path) -> dict[str, str]:
    """Return all secrets by name from `home`/secrets (mode 600); create and save those that are missing there.

    Raise UpError if the file is damaged.
    """
    path = home / "secrets"
    try:
        lines = path.read_text().splitlines() if path.exists() else []
    except UnicodeDecodeError as error:
        raise UpError(f"{path} is damaged. Put the one of your last backup in its place.") from error
    known = dict(line.split("=", 1) for line in lines if "=" in line)
    missing = {name: make() for name, make in SECRET_MAKERS.items() if name not in known}
    if missing:
        known |= missing
        write_private_file(path, known)
    return known


def find_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in the environment that fit into a line of a file: of one line, and valid UTF-8.

    A value that begins with a quotation mark is quoted, as django-environ would take it for quoted.
    """
    return {
        name: '"' + re.sub(r'(["\\])', r"\\\1", value) + '"' if value.startswith(('"', "'")) else value
        for name, value in environment.items()
        if name.startswith(PREFIXES) or name in OTHER_NAMES
        if len(value.splitlines()) < 2 and value.encode(errors="ignore").decode() == value
    }


def write_private_file(path: Path, values: Mapping[str, str]) -> None:
    """Write NAME=value lines to a file that only this user can read, atomically."""
    new = path.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in values.items())
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


@contextmanager
def hold_home(home: Path) -> Iterator[None]:
    """Create, lock and probe the data folder; hold the lock within the block. Raise UpError if it cannot be used."""
    with ExitStack() as stack:
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in PRIVATE:
                (home / name).mkdir(mode=0o700, exist_ok=True)
            lock = stack.enter_context((home / "up.lock").open("a+"))
            for path in (home / "up.lock", *home.glob("beat-schedule*")):
                path.chmod(0o600)  # earlier versions of Kith let others read them
            _lock_for_this_process(home, lock.fileno())
            probe(home)
        except OSError as error:
            raise UpError(cannot_write(home, error)) from error
        yield


def probe(home: Path) -> None:
    """Write a file to the data folder and delete it; raise OSError if that is impossible, e.g. if the disk is full."""
    path = home / ".probe"
    with path.open("wb") as file:  # not empty: that would succeed on a full disk
        file.write(bytes(PROBE_BYTES))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()


def _lock_for_this_process(home: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 20, 0).decode().strip() or "unknown"
        raise UpError(
            f"Kith is already running on {home} (process {holder}). Stop it, or set KITH_HOME to another folder."
        ) from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def cannot_write(home: Path, error: OSError) -> str:
    """Return a message that says why the data folder cannot be used, and what to do."""
    if error.errno in DISK_IS_FULL:
        return f"The disk of Kith's data folder {home} is full. Free some space, or set KITH_HOME to another folder."
    return f"Kith cannot write to its data folder {home}: {error.strerror}. Set KITH_HOME to another folder."
