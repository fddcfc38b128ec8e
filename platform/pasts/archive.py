"""ZIPs as they are downloaded, with the files of earlier talk in them: found by their paths, read within bounds."""

import re
from collections.abc import Iterable, Iterator
from typing import IO

from files.zips import BROKEN, ZipError, check_packing, open_zip
from pasts.encoding import read_utf8
from pasts.past import MAX_BYTES, PastFormatError

MAX_FILES = 20_000  # ChatGPT's have one for each picture
# Which files to read of one: the first of these that any path fits. ChatGPT parts large exports.
WANTED = (
    re.compile(r"(?:.*/)?conversations(?:-\d{1,4})?\.json"),
    re.compile(r"chats/chats\.json"),  # RisuAI's package of a character
    re.compile(r".*\.jsonl"),  # a folder of SillyTavern's
    re.compile(r"[^/]*chat[^/]*\.txt", re.IGNORECASE),  # WhatsApp's
)
OTHERS = {"card.json"}  # a CHARX is a character


def list_paths(file: IO[bytes]) -> list[str]:
    """Return the paths of a ZIP's files, whose contents are not touched; none where it is broken, or has too many."""
    try:
        return open_zip(file, MAX_FILES).namelist()
    except ZipError:
        return []


def choose_paths(paths: Iterable[str]) -> list[str]:
    """Return those in which talk is looked for, in order; none of a character's own file."""
    known = sorted(set(paths))
    if OTHERS & set(known):
        return []
    chosen = ([path for path in known if pattern.fullmatch(path)] for pattern in WANTED)
    return next(filter(None, chosen), [])


def read_files(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the files in which there is talk as UTF-8, one after the other; together they are no larger than one may be.

    What they say of their size is looked at before any is read, and each is counted while it is inflated, for that may be
    a lie. PastFormatError `no_past`, `broken_zip`, `encrypted_zip`, `too_many_files`, `too_large`, `wrong_encoding`.
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
