"""The models folder: the names of its files, incomplete files and their locks, and the room on the disk."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from urllib.parse import unquote

from django.conf import settings
from urllib3.util import parse_url

MAX_NAME_CHARACTERS = 150


def open_folder() -> Path:
    """Return the models folder in Kith's home, which is created if it does not exist yet."""
    folder: Path = settings.KITH_HOME / "models"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def choose_file_name(url: str) -> str:
    """Return a safe file name, ending in .gguf, made from the last part of an untrusted address."""
    last = unquote((parse_url(url).path or "").rsplit("/", 1)[-1])
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", re.sub(r"\.gguf\Z", "", last, flags=re.IGNORECASE)).strip(".-_")
    return f"{stem[:MAX_NAME_CHARACTERS] or 'model'}.gguf"


def get_part_path(download_id: int) -> Path:
    """Return the path of the download's file while it is incomplete."""
    return open_folder() / f"{download_id}.part"


@contextmanager
def lock_part(path: Path) -> Iterator[FileIO | None]:
    """Open the incomplete file, created if missing, under an exclusive lock.

    Yield None if another process holds the lock, or the file was removed meanwhile.
    The system releases the lock when the process ends, however it ends.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with FileIO(descriptor, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())
        except BlockingIOError:
            is_ours = False
        yield file if is_ours else None


def has_room(more_bytes: int, margin_bytes: int) -> bool:
    """Return whether `more_bytes` fit on the disk while `margin_bytes` stay free."""
    return shutil.disk_usage(open_folder()).free >= more_bytes + margin_bytes


def move_into_place(part: Path, path: Path) -> None:
    """Rename the complete file and sync its folder, so that after any failure it is there as a whole or not at all."""
    part.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
