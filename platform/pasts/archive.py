"""Downloaded ZIPs that contain files of earlier talk: these are found by their paths and read within limits."""

import re
from collections.abc import Iterable, Iterator
from typing import IO

from files.zips import BROKEN, ZipError, check_packing, open_zip
from pasts.encoding import read_utf8
from pasts.past import MAX_BYTES, PastFormatError

MAX_FILES = 20_000  # ChatGPT's exports have a file for each picture
# Which files of a ZIP to read: those that match the first of these patterns that any path matches. ChatGPT splits large
# exports into several files.
WANTED = (
    re.compile(r"(?:.*/)?conversations(?:-\d{1,4})?\.json"),
    re.compile(r"chats/chats\.json"),  # RisuAI's package of a character
    re.compile(r".*\.jsonl"),  # a folder of SillyTavern
    re.compile(r"[^/]*chat[^/]*\.txt", re.IGNORECASE),  # an export of WhatsApp
)
OTHERS = {"card.json"}  # a ZIP with this file is a CHARX: a character, not talk


def list_paths(file: IO[bytes]) -> list[str]:
    """Return the paths in a ZIP without reading the files; none if it is broken or has too many."""
    try:
        return open_zip(file, MAX_FILES).namelist()
    except ZipError:
        return []


def choose_paths(paths: Iterable[str]) -> list[str]:
    """Return the paths of the files to read as earlier talk, sorted; none if the ZIP is a character card."""
    known = sorted(set(paths))
    if OTHERS & set(known):
        return []
    chosen = ([path for path in known if pattern.fullmatch(path)] for pattern in WANTED)
    return next(filter(None, chosen), [])


def read_files(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the contents of the ZIP's files of earlier talk as UTF-8; MAX_BYTES limits them all together.

    The declared sizes, which may be false, are checked before any file is read, and the bytes are counted while a file
    is read. Raise PastFormatError `no_past`, `broken_zip`, `encrypted_zip`, `too_many_files`, `too_large`,
    `wrong_encoding`.
    """
    try:
        with open_zip(file, MAX_FILES) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            chosen = [infos[path] for path in choose_paths(infos)]
            if not chosen:
                raise PastFormatError("no_past")
            for info in chosen:
                check_packing(info)
            left = MAX_BYTES
            if sum(info.file_size for info in chosen) > left:
                raise PastFormatError("too_large")
            for info in chosen:
                with archive.open(info) as entry:
                    content = read_utf8(entry, left)
                left -= len(content)
                yield content
    except ZipError as error:
        raise PastFormatError(error.code) from None
    except BROKEN:
        raise PastFormatError("broken_zip") from None
