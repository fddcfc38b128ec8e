"""ZIPs as they are downloaded, with the files of earlier talk in them: found by their paths, read within bounds."""

import io
import re
import struct
import zlib
from collections.abc import Iterable
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pasts.errors import PastFormatError
from pasts.past import MAX_BYTES

START, END, ZIP64 = b"PK\3\4", b"PK\5\6", b"PK\6\7"
TAIL_BYTES = 22 + 65_535
MAX_FILES = 20_000  # ChatGPT's have one for each picture
MAX_DIRECTORY_BYTES = MAX_FILES * 300
BROKEN = (
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
# Which files to read of one: the first of these that any path fits. ChatGPT parts large exports.
WANTED = (
    re.compile(r"(?:.*/)?conversations(?:-\d{1,4})?\.json"),
    re.compile(r"chats/chats\.json"),  # RisuAI's package of a character
    re.compile(r".*\.jsonl"),  # a folder of SillyTavern's
    re.compile(r"[^/]*chat[^/]*\.txt", re.IGNORECASE),  # WhatsApp's
)
OTHERS = {"card.json"}  # a CHARX is a character


def list_paths(content: bytes) -> list[str] | None:
    """Return the paths of a ZIP's files, whose contents are not touched; None where it is broken, or has too many."""
    try:
        directory = _find_directory(content)
        at, paths = 0, list[str]()
        while at < len(directory) and len(paths) <= MAX_FILES:
            name, extra, comment = struct.unpack_from("<HHH", directory, at + 28)
            paths.append(directory[at + 46 : at + 46 + name].decode(errors="replace"))
            at += 46 + name + extra + comment
    except struct.error:
        return None
    return paths if len(paths) <= MAX_FILES else None


def choose_paths(paths: Iterable[str]) -> list[str]:
    """Return those in which talk is looked for, in order; none of a character's own file."""
    known = sorted(set(paths))
    if OTHERS & set(known):
        return []
    chosen = ([path for path in known if pattern.fullmatch(path)] for pattern in WANTED)
    return next(filter(None, chosen), [])


def read_files(content: bytes) -> list[bytes]:
    """Return the files in which there is talk, all together no larger than a file may be alone.

    PastFormatError `no_past`, `broken_zip`, `encrypted_zip`, `too_many_files`, `too_large`.
    """
    if content.rfind(END, max(0, len(content) - TAIL_BYTES)) < 0:
        raise PastFormatError("broken_zip")
    if list_paths(content) is None:
        raise PastFormatError("too_many_files")
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            files, left = [], MAX_BYTES
            for path in choose_paths(infos):
                files.append(_read_file(archive, infos[path], left))
                left -= len(files[-1])
    except BROKEN:
        raise PastFormatError("broken_zip") from None
    if not files:
        raise PastFormatError("no_past")
    return files


def _find_directory(content: bytes) -> bytes:
    """Return the bytes in which the ZIP lists its files. struct.error where they are not there, or are too many."""
    at = content.rfind(END, max(0, len(content) - TAIL_BYTES))
    if at < 0:
        raise struct.error("no end")
    count, size, start = struct.unpack_from("<HII", content, at + 10)
    locator = content[max(0, at - 20) : at]
    if locator.startswith(ZIP64):
        (record,) = struct.unpack_from("<Q", locator, 8)
        count, size, start = struct.unpack_from("<QQQ", content, min(record + 32, len(content)))
    if count > MAX_FILES or size > MAX_DIRECTORY_BYTES:
        raise struct.error("too many")
    return content[start : start + size]


def _read_file(archive: ZipFile, info: ZipInfo, max_bytes: int) -> bytes:
    """Return it inflated, counted while it is: what it says of its size may be a lie."""
    if info.flag_bits & 0x41:
        raise PastFormatError("encrypted_zip")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise PastFormatError("broken_zip")
    if info.file_size > max_bytes:
        raise PastFormatError("too_large")
    with archive.open(info) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise PastFormatError("too_large")
    return content
