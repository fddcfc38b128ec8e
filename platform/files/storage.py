"""Where contents lie: a folder of this machine, or a bucket of an S3-compatible server. Neither makes links."""

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

from files.errors import ContentLostError, StorageAwayError

log = structlog.get_logger(__name__)
COPIED_BYTES = 256_000
AWAY = "storage_away", _("Kith's storage does not answer right now. Try again in a moment.")
LOST = "content_lost", _("What is stored here is missing or damaged. It cannot be given back.")


class Content(NamedTuple):
    """One content as the storage lists it."""

    key: str
    stored_at: datetime


class Part(Protocol):
    """A content, or a part of one, as it comes."""

    def read(self, count: int = -1) -> bytes: ...

    def close(self) -> None: ...


class Private(Protocol):
    """All of it raises StorageAwayError where the storage fails; a content that is not there: ContentLostError."""

    def put(self, key: str, content: bytes, content_type: str) -> None: ...

    def put_file(self, key: str, file: BinaryIO, content_type: str) -> None:
        """Put all that the file holds, piece by piece."""

    def part(self, key: str, start: int, end: int, of: int) -> Part:
        """A stream that gives the bytes from `start` up to, not with, `end` of a content of `of` bytes."""

    def contents(self, kind: str, beginning: str = "") -> Iterator[Content]:
        """All of that kind, or those whose folder begins so."""

    def remove(self, keys: Iterable[str]) -> None:
        """Remove them; one that is not there is as good as removed."""


class NoLinks:
    """A storage's own link opens to whoever has it, and stays open: here it is never made."""

    def url(self, name: str | None, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError("Contents are given by a view that checks who asks.")


def private() -> Private:
    """Return the storage of what is private, as the settings have it now."""
    return cast(Private, storages["private"])


class PrivateFolder(NoLinks, FileSystemStorage):
    """A folder of this machine that nobody but Kith's own user may look into."""

    def __init__(self, location: str | Path) -> None:
        super().__init__(location, file_permissions_mode=0o600, directory_permissions_mode=0o700)

    def put(self, key: str, content: bytes, content_type: str) -> None:
        self.put_file(key, BytesIO(content), content_type)

    def put_file(self, key: str, file: BinaryIO, content_type: str) -> None:
        """Written beside its place and moved there, so that a content is there whole or not at all."""
        path = Path(self.path(key))
        new = path.with_name(f".{uuid4().hex}")
        with failures(key):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with open(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as written:
                    shutil.copyfileobj(file, written, COPIED_BYTES)
                new.rename(path)
            except OSError:
                with suppress(OSError):
                    new.unlink(missing_ok=True)
                raise

    def part(self, key: str, start: int, end: int, of: int) -> Part:
        with failures(key):
            file = Path(self.path(key)).open("rb")  # noqa: SIM115 -- whoever reads it closes it
            if os.fstat(file.fileno()).st_size != of:
                file.close()
                raise ContentLostError(*LOST)
            file.seek(start)
            return file

    def contents(self, kind: str, beginning: str = "") -> Iterator[Content]:
        """What was begun and never moved to its place is among them: it has no row, and is swept."""
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
    """Return what stands in it; a folder that is not there yet has nothing in it."""
    try:
        return list(os.scandir(folder))
    except FileNotFoundError:
        return []


@contextmanager
def failures(key: str) -> Iterator[None]:
    """Tell the system's errors as ours."""
    try:
        yield
    except FileNotFoundError as error:
        raise ContentLostError(*LOST) from error
    except OSError as error:
        log.error("the storage failed", key=key, error=str(error))
        raise StorageAwayError(*AWAY) from error
