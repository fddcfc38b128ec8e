"""The models folder: what files are called there, which are incomplete, and whether the disk has room."""

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
    """Return the models folder in Kith's home, made where it is not there yet."""
    folder: Path = settings.KITH_HOME / "models"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def choose_file_name(url: str) -> str:
    """Return a plain file name, ending in .gguf, from the last part of an address that nobody vouches for."""
    last = unquote((parse_url(url).path or "").rsplit("/", 1)[-1])
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", re.sub(r"\.gguf\Z", "", last, flags=re.IGNORECASE)).strip(".-_")
    return f"{stem[:MAX_NAME_CHARACTERS] or 'model'}.gguf"


def get_part_path(download_id: int) -> Path:
    """Return where the file of that download lies until it is whole."""
    return open_folder() / f"{download_id}.part"


@contextmanager
def lock_part(path: Path) -> Iterator[FileIO | None]:
    """Open the incomplete file, made where it is not there, for this process alone; None where another has it.

    The system lets go of it as the process ends, however it ends.
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
    """Return whether so much more fits on the disk, and the margin stays free."""
    return shutil.disk_usage(open_folder()).free >= more_bytes + margin_bytes


def move_into_place(part: Path, path: Path) -> None:
    """Give the whole file its name, so that it is there whole after any failure, or not at all."""
    part.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
