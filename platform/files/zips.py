"""ZIP files that anybody may have made: what each reader of one looks at before it reads an entry.

Nothing here knows what such a file is for; it is also read in the sandbox, where there is no Django.
"""

import re
import stat
import struct
import zlib
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

START, END = b"PK\3\4", b"PK\5\6"
LOCATOR64, RECORD64 = b"PK\6\7", b"PK\6\6"
END_BYTES, LOCATOR_BYTES, RECORD_BYTES, MAX_COMMENT_BYTES = 22, 20, 56, 65_535
DIRECTORY_BYTES_EACH = 400  # that the directory may have for each entry
RATIO_FROM_BYTES = 1_000_000
# A path that leaves its folder, or that some system would not take as one below it.
UNSAFE = re.compile(r"^/|^[A-Za-z]:|\\|[\x00-\x1f\x7f]|(?:^|/)\.\.?(?:/|$)|//")
BROKEN = (  # what `zipfile` raises for a file that is no sound ZIP
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
    """A ZIP file that is not read: `code` is broken_zip, too_many_files, unsafe_path, encrypted_zip or zip_bomb."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def open_zip(file: IO[bytes], most_entries: int) -> ZipFile:
    """Return the ZIP with its directory read, which is looked at before that. ZipError."""
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
    """Raise ZipError for an entry that is encrypted, or packed in a way that is not read."""
    if info.flag_bits & 0x1 or info.flag_bits & 0x40:
        raise ZipError("encrypted_zip")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ZipError("broken_zip")


def check_entry(info: ZipInfo, *, most_path: int, most_ratio: int) -> None:
    """Raise ZipError for an entry of an unsafe path, of another kind than a file or folder, or that is a bomb.

    `most_ratio` is how often larger than in the ZIP one above a megabyte may be.
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
    """Return how many entries the ZIP says it has, and how many bytes of directory. ZipError.

    Where there are two ends, the one of 64 bits counts, as for `zipfile`; it has to stand where its locator says and
    right before it, or else `zipfile` would read the other one.
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
