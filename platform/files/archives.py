"""ZIP files of lines and contents, written and read as streams, so that memory stays bounded whatever their size.

Nothing that a file says of itself is trusted: its directory is checked before any entry is read, and each entry's bytes
are counted while it is read.
"""

from collections.abc import Iterator
from hashlib import sha256
from io import RawIOBase
from typing import IO, Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from files.errors import ContentError
from files.zips import BROKEN, START, ZipError, check_entry, open_zip

MAX_ENTRIES = 20_000
MAX_UNPACKED_BYTES = 4_000_000_000
MAX_RATIO = 300  # compression ratio of an entry above a megabyte: similar lines of JSON may reach a hundred
MAX_LINE_BYTES = 8_000_000
MAX_PATH = 200
READ_BYTES = 256_000
REFUSALS: dict[str, str | Promise] = {
    "broken_zip": _("This archive is broken or incomplete. Download it again, or export it again."),
    "too_many_files": _(
        "There are more files in this archive than any companion can have, so it is not opened."
    ),
    "unsafe_path": _("This archive has files with names that lead outside of it, so it is not opened."),
    "encrypted_zip": _("This archive is protected by a password. Save it without one, and send it again."),
    "zip_bomb": _("This archive unpacks to far more than it should, so it is not opened."),
    "twice": _("Two files in this archive have the same name, so it is not opened."),
    "line_too_long": _("A line in this archive is longer than any line can be, so it is not read."),
}


class ArchiveFileError(ContentError):
    """A ZIP file that is refused; `code` is a key of REFUSALS."""

    def __init__(self, code: str) -> None:
        super().__init__(code, REFUSALS[code])


class Outlet(RawIOBase):
    """A write-only stream that buffers a ZIP file until `take` empties it; it cannot seek."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: Any, /) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


class Digest:
    """Counts and hashes the bytes that are written to an entry of a ZIP, or read from one."""

    def __init__(self) -> None:
        self.bytes = 0
        self._sum = sha256()

    def add(self, piece: bytes) -> None:
        self.bytes += len(piece)
        self._sum.update(piece)

    @property
    def sha256(self) -> str:
        return self._sum.hexdigest()


def is_zip(file: IO[bytes]) -> bool:
    """Return whether the file begins like a ZIP; its position is reset to the beginning."""
    file.seek(0)
    beginning = file.read(4)
    file.seek(0)
    return beginning == START


class Archive:
    """A ZIP file whose directory is checked before any entry is read. Opening and reading raise ArchiveFileError."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = open_zip(file, MAX_ENTRIES)
            infos = self._zip.infolist()
            for info in infos:
                check_entry(info, most_path=MAX_PATH, most_ratio=MAX_RATIO)
        except ZipError as error:
            raise ArchiveFileError(error.code) from None
        if sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
            raise ArchiveFileError("zip_bomb")
        if len({info.filename.casefold() for info in infos}) != len(infos):
            raise ArchiveFileError("twice")  # programs differ in which of the two they read
        self.entries = {info.filename: info for info in infos if not info.is_dir()}

    def read(self, path: str, most_bytes: int) -> bytes:
        """Return the whole entry."""
        if self.entries[path].file_size > most_bytes:
            raise ArchiveFileError("zip_bomb")
        return b"".join(self.read_pieces(path))

    def read_pieces(self, path: str) -> Iterator[bytes]:
        """Yield the entry piece by piece."""
        try:
            with self._zip.open(self.entries[path]) as entry:
                while piece := entry.read(READ_BYTES):
                    yield piece
        except BROKEN:
            raise ArchiveFileError("broken_zip") from None

    def read_lines(self, path: str, digest: Digest) -> Iterator[bytes]:
        """Yield the entry's lines without line ends, adding everything that is read to `digest`."""
        rest = b""
        for piece in self.read_pieces(path):
            digest.add(piece)
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > MAX_LINE_BYTES:
                raise ArchiveFileError("line_too_long")
            yield from lines
        if rest:
            yield rest
