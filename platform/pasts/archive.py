"""ZIPs as they are downloaded, with the files of earlier talk in them: found by their paths, read within bounds."""

import io
import re
from collections.abc import Iterable
from zipfile import ZipFile, ZipInfo

from files.zips import BROKEN, ZipError, check_packing, open_zip
from pasts.errors import PastFormatError
from pasts.past import MAX_BYTES

MAX_FILES = 20_000  # ChatGPT's have one for each picture
# Which files to read of one: the first of these that any path fits. ChatGPT parts large exports.
WANTED = (
    re.compile(r"(?:.*/)?conversations(?:-\d{1,4})?\.json"),
    re.compile(r"chats/chats\.json"),  # RisuAI's package of a character
    re.compile(r".*\.jsonl"),  # a folder of SillyTavern's
    re.compile(r"[^/]*chat[^/]*\.txt", re.IGNORECASE),  # WhatsApp's
)
OTHERS = {"card.json"}  # a CHARX is a character


def list_paths(content: bytes) -> list[str]:
    """Return the paths of a ZIP's files, whose contents are not touched; none where it is broken, or has too many."""
    try:
        return open_zip(io.BytesIO(content), MAX_FILES).namelist()
    except ZipError:
        return []


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
    try:
        with open_zip(io.BytesIO(content), MAX_FILES) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            files, left = [], MAX_BYTES
            for path in choose_paths(infos):
                files.append(_read_file(archive, infos[path], left))
                left -= len(files[-1])
    except ZipError as error:
        raise PastFormatError(error.code) from None
    except BROKEN:
        raise PastFormatError("broken_zip") from None
    if not files:
        raise PastFormatError("no_past")
    return files


def _read_file(archive: ZipFile, info: ZipInfo, max_bytes: int) -> bytes:
    """Return it inflated, counted while it is: what it says of its size may be a lie."""
    check_packing(info)
    if info.file_size > max_bytes:
        raise PastFormatError("too_large")
    with archive.open(info) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise PastFormatError("too_large")
    return content
