"""Checks of untrusted ZIP files, which every reader of one makes before it reads an entry.

They are independent of a file's purpose, and also run in the sandbox, where Django is not available.
"""

import re
import stat
import struct
import zlib
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

START, END = b"PK\3\4", b"PK\5\6"
OTHER_ARCHIVE = re.compile(rb"Rar!\x1a\x07|7z\xbc\xaf\x27\x1c")
LOCATOR64, RECORD64 = b"PK\6\7", b"PK\6\6"
END_BYTES, LOCATOR_BYTES, RECORD_BYTES, MAX_COMMENT_BYTES = 22, 20, 56, 65_535
DIRECTORY_BYTES_EACH = 400  # allowed in the directory for each entry
RATIO_FROM_BYTES = 1_000_000
# A path that leaves its folder, or that some system would not resolve below it.
UNSAFE = re.compile(r"^/|^[A-Za-z]:|\\|[\x00-\x1f\x7f]|(?:^|/)\.\.?(?:/|$)|//")
BROKEN = (  # what `zipfile` raises for a malformed ZIP
    BadZipFile,
    EOFError,
    IndexError,
    KeyError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    struct.error,
    ValueError,
    zlib.error,
)


class ZipError(Exception):
    """A ZIP file is refused: `code` is broken_zip, too_many_files, unsafe_path, encrypted_zip or zip_bomb."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def open_zip(file: IO[bytes], most_entries: int) -> ZipFile:
    """Return the opened ZIP, whose directory's size is checked before it is read. Raise ZipError."""
    count, size = _read_end(file)
    if count > most_entries or size > most_entries * DIRECTORY_BYTES_EACH:
        raise ZipError("too_many_files")
    try:
        opened = ZipFile(file)
    except BROKEN:
        raise ZipError("broken_zip") from None
    if len(opened.infolist()) > most_entries:
        raise ZipError("too_many_files")
    return opened


def check_packing(info: ZipInfo) -> None:
    """Raise ZipError if the entry is encrypted, or compressed by an unsupported method."""
    if info.flag_bits & 0x1 or info.flag_bits & 0x40:
        raise ZipError("encrypted_zip")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ZipError("broken_zip")


def check_entry(info: ZipInfo, *, most_path: int, most_ratio: int) -> None:
    """Raise ZipError if the entry's path is unsafe, it is neither file nor folder, or it is a bomb.

    `most_ratio` is the highest compression ratio allowed for an entry above a megabyte.
    """
    kind = stat.S_IFMT(info.external_attr >> 16)
    if len(info.filename) > most_path or UNSAFE.search(info.orig_filename):
        raise ZipError("unsafe_path")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ZipError("unsafe_path")  # a link or a device
    check_packing(info)
    if info.file_size > RATIO_FROM_BYTES and info.file_size > most_ratio * info.compress_size:
        raise ZipError("zip_bomb")


def _read_end(file: IO[bytes]) -> tuple[int, int]:
    """Return the ZIP's declared number of entries and bytes of its directory. Raise ZipError.

    If there is a ZIP64 end record, it counts, as for `zipfile`; it must be where its locator says and directly before
    the locator, since `zipfile` would read another one otherwise.
    """
    length = file.seek(0, 2)
    start = max(0, length - RECORD_BYTES - LOCATOR_BYTES - END_BYTES - MAX_COMMENT_BYTES)
    file.seek(start)
    tail = file.read()
    file.seek(0)
    at = tail.rfind(END, max(0, len(tail) - END_BYTES - MAX_COMMENT_BYTES))
    if at < 0 or at + END_BYTES > len(tail):
        raise ZipError("broken_zip")
    count, size = struct.unpack_from("<HI", tail, at + 10)
    if tail[max(0, at - LOCATOR_BYTES) : at].startswith(LOCATOR64):
        record = at - LOCATOR_BYTES - RECORD_BYTES
        if record < 0 or not tail.startswith(RECORD64, record):
            raise ZipError("broken_zip")
        if struct.unpack_from("<Q", tail, at - LOCATOR_BYTES + 8)[0] != start + record:
            raise ZipError("broken_zip")
        count, size = struct.unpack_from("<QQ", tail, record + 32)
    return count, size
