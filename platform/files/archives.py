"""ZIP files of lines and contents, written and read as streams: memory stays bounded, however much is in them.

Nothing that a file says of itself is believed: its directory is looked at before any entry is, and each entry is counted
while it is read.
"""

import re
import stat
import struct
import zlib
from collections.abc import Iterator
from hashlib import sha256
from io import RawIOBase
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from files.errors import ContentError

MAX_ENTRIES = 20_000
MAX_DIRECTORY_BYTES = MAX_ENTRIES * 300
MAX_UNPACKED_BYTES = 4_000_000_000
MAX_RATIO = 300  # of an entry above a megabyte: lines of JSON that are much alike may have a hundred
RATIO_FROM_BYTES = 1_000_000
MAX_LINE_BYTES = 8_000_000
MAX_PATH = 200
READ_BYTES = 256_000
END, ZIP64 = b"PK\5\6", b"PK\6\7"
END_BYTES, MAX_COMMENT_BYTES = 22, 65_535
ZIP64_BYTES = 76  # of record and locator, before the end
# A path that leaves its folder, or that some system would not take as one below it.
UNSAFE = re.compile(r"^/|^[A-Za-z]:|\\|[\x00-\x1f\x7f]|(?:^|/)\.\.?(?:/|$)|//")
BROKEN = (
    BadZipFile,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    struct.error,
    ValueError,
    zlib.error,
)
REFUSALS: dict[str, str | Promise] = {
    "broken_zip": _("This archive is broken or incomplete. Download it again, or export it again."),
    "too_many_entries": _("There are more files in this archive than any companion has. It is not opened."),
    "unsafe_path": _("This archive has files with names that lead outside of it, so it is not opened."),
    "encrypted_zip": _("This archive is protected by a password. Save it without one, and bring it again."),
    "zip_bomb": _("This archive unpacks to far more than it should, so it is not opened."),
    "twice": _("Two files in this archive have the same name, so it is not opened."),
    "line_too_long": _("A line of this archive is longer than any can be, so it is not read."),
}


class ArchiveFileError(ContentError):
    """A ZIP file that is not read; `code` is one of REFUSALS."""

    def __init__(self, code: str) -> None:
        super().__init__(code, REFUSALS[code])


class Outlet(RawIOBase):
    """What a ZIP file is written to, and taken from again piece by piece; it cannot go back, as no stream can."""

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
    """Counts what is written to an entry of a ZIP, or read from one, and digests it."""

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
    """Return whether the file begins as a ZIP does; it is left at its beginning."""
    file.seek(0)
    beginning = file.read(4)
    file.seek(0)
    return beginning == b"PK\3\4"


class Archive:
    """A ZIP file whose directory was looked at before any entry is read. ArchiveFileError, also of what it returns."""

    def __init__(self, file: IO[bytes]) -> None:
        _check_directory(file)
        try:
            self._zip = ZipFile(file)
        except BROKEN:
            raise ArchiveFileError("broken_zip") from None
        infos = self._zip.infolist()
        if len(infos) > MAX_ENTRIES:
            raise ArchiveFileError("too_many_entries")
        for info in infos:
            _check_entry(info)
        if sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
            raise ArchiveFileError("zip_bomb")
        if len({info.filename.casefold() for info in infos}) != len(infos):
            raise ArchiveFileError("twice")  # each program would read another one
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
        """Yield the entry's lines without their ends; `digest` has counted all of it at the end."""
        rest = b""
        for piece in self.read_pieces(path):
            digest.add(piece)
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > MAX_LINE_BYTES:
                raise ArchiveFileError("line_too_long")
            yield from lines
        if rest:
            yield rest


def _check_directory(file: IO[bytes]) -> None:
    """Raise ArchiveFileError for a directory that would cost much to read, before it is read."""
    size = file.seek(0, 2)
    start = max(0, size - ZIP64_BYTES - END_BYTES - MAX_COMMENT_BYTES)
    file.seek(start)
    tail = file.read()
    file.seek(0)
    at = tail.rfind(END)
    if at < 0 or at + END_BYTES > len(tail):
        raise ArchiveFileError("broken_zip")
    _disk, _first, _here, count, length = struct.unpack_from("<HHHHI", tail, at + 4)
    if tail[max(0, at - 20) : at].startswith(ZIP64):
        if at < ZIP64_BYTES:
            raise ArchiveFileError("broken_zip")
        count, length = struct.unpack_from(
            "<QQ", tail, at - ZIP64_BYTES + 32
        )  # the record stands right before its locator
    if count > MAX_ENTRIES or length > MAX_DIRECTORY_BYTES:
        raise ArchiveFileError("too_many_entries")


def _check_entry(info: ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if len(info.filename) > MAX_PATH or UNSAFE.search(info.orig_filename):
        raise ArchiveFileError("unsafe_path")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveFileError("unsafe_path")  # a link or a device
    if info.flag_bits & 0x1 or info.flag_bits & 0x40:
        raise ArchiveFileError("encrypted_zip")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ArchiveFileError("broken_zip")
    if info.file_size > RATIO_FROM_BYTES and info.file_size > MAX_RATIO * info.compress_size:
        raise ArchiveFileError("zip_bomb")
