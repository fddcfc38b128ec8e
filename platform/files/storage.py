"""The storage of contents: a local folder, or a bucket of an S3-compatible server. Neither gives out URLs."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn, Protocol, cast
from uuid import uuid4

import structlog
from django.core.files.storage import FileSystemStorage, storages
from django.utils.translation import gettext_lazy as _

from database.queries import DISK_FULL, is_disk_full
from files.errors import ContentLostError, StorageAwayError

log = structlog.get_logger(__name__)
COPIED_BYTES = 256_000
AWAY = "storage_away", _("Kith's storage is not answering right now. Try again in a moment.")
FULL = "storage_away", DISK_FULL
LOST = "content_lost", _("What was stored here is missing or damaged, and cannot be recovered.")


class Content(NamedTuple):
    """An entry of the storage's listing."""

    key: str
    stored_at: datetime


class Part(Protocol):
    """A stream of a content, or of a part of one."""

    def read(self, count: int = -1) -> bytes: ...

    def close(self) -> None: ...


class Private(Protocol):
    """The private storage. Methods raise StorageAwayError if it fails, and ContentLostError if a content is missing."""

    def put(self, key: str, content: bytes, content_type: str) -> None: ...

    def put_file(self, key: str, file: BinaryIO, content_type: str) -> None:
        """Store the file's content, piece by piece."""

    def part(self, key: str, start: int, end: int, of: int) -> Part:
        """Return a stream of the bytes from `start` up to `end` (exclusive) of a content that has `of` bytes in all."""

    def contents(self, kind: str, beginning: str = "") -> Iterator[Content]:
        """Yield the contents of that kind, or only those in folders whose name starts with `beginning`."""

    def remove(self, keys: Iterable[str]) -> None:
        """Remove the contents. Missing ones are ignored."""


class NoLinks:
    """Mixin that refuses to make URLs: a storage's own URL would work for whoever has it."""

    def url(self, name: str | None, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError("Contents are given by a view that checks who asks.")


def private() -> Private:
    """Return the private storage according to the current settings."""
    return cast(Private, storages["private"])


class FilePart:
    """A stream of the next `length` bytes of an open file."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file = file
        self._left = length

    def read(self, count: int = -1) -> bytes:
        piece = self._file.read(self._left if count < 0 else min(count, self._left))
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        self._file.close()


class PrivateFolder(NoLinks, FileSystemStorage):
    """The private storage in a local folder that only Kith's own system user can read."""

    def __init__(self, location: str | Path) -> None:
        super().__init__(location, file_permissions_mode=0o600, directory_permissions_mode=0o700)

    def put(self, key: str, content: bytes, content_type: str) -> None:
        self.put_file(key, BytesIO(content), content_type)

    def put_file(self, key: str, file: BinaryIO, content_type: str) -> None:
        """Write to a temporary file and rename it, so that a content exists completely or not at all.

        Both are synced, since the row that is saved next survives a power cut.
        """
        path = Path(self.path(key))
        new = path.with_name(f".{uuid4().hex}")
        with failures(key):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with open(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as written:
                    shutil.copyfileobj(file, written, COPIED_BYTES)
                    written.flush()
                    os.fsync(written.fileno())
                new.rename(path)
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
            except OSError:
                with suppress(OSError):
                    new.unlink(missing_ok=True)
                raise

    def part(self, key: str, start: int, end: int, of: int) -> Part:
        with failures(key):
            file = Path(self.path(key)).open("rb")  # noqa: SIM115 -- the caller closes it
            if os.fstat(file.fileno()).st_size != of:
                file.close()
                raise ContentLostError(*LOST)
            file.seek(start)
            return FilePart(file, end - start)

    def contents(self, kind: str, beginning: str = "") -> Iterator[Content]:
        """Yield the contents, including abandoned temporary files: they have no row, and so they are swept."""
        with failures(kind):
            for folder in _scan(self.path(kind)):
                if folder.is_dir() and folder.name.startswith(beginning):
                    for file in _scan(folder.path):
                        with suppress(FileNotFoundError):  # removed meanwhile
                            if file.is_file():
                                at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
                                yield Content(f"{kind}/{folder.name}/{file.name}", at)

    def remove(self, keys: Iterable[str]) -> None:
        for key in keys:
            with failures(key):
                Path(self.path(key)).unlink(missing_ok=True)


def _scan(folder: str) -> list[os.DirEntry[str]]:
    """Return the folder's entries; none if it does not exist yet."""
    try:
        return list(os.scandir(folder))
    except FileNotFoundError:
        return []


@contextmanager
def failures(key: str) -> Iterator[None]:
    """Translate the system's errors into ContentLostError and StorageAwayError."""
    try:
        yield
    except FileNotFoundError as error:
        raise ContentLostError(*LOST) from error
    except OSError as error:
        log.error("storage_failed", key=key, error=str(error))
        raise StorageAwayError(*(FULL if is_disk_full(error) else AWAY)) from error


def refuse_full_disk(error: OSError) -> StorageAwayError:
    """Log that a disk is full, which may be that of the temporary folder, and return the refusal to answer with."""
    log.error("disk_full", exc_info=error)
    return StorageAwayError(*FULL)
