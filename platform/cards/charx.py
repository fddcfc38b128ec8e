"""CHARX: a ZIP of card.json and its assets, possibly appended to a JPEG or a program; or a ZIP with a PNG card."""

import io
import os
import stat
from collections.abc import Sequence
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from cards.assets import FileCard, choose_icon, list_paths, resolve
from cards.png import read_png
from cards.risum import MAX_BYTES, MODULE, add_module
from cards.schema import read_json
from cards.values import MAX_JSON_BYTES, CardFormatError
from files.zips import BROKEN, END, END_BYTES, MAX_COMMENT_BYTES, UNSAFE, ZipError, check_entry, open_zip

CARD = "card.json"
MAX_FILES = 1_500
MAX_UNPACKED_BYTES = 60_000_000
MAX_RATIO = 200  # compression ratio of an entry above a megabyte: text may reach fifty, media hardly two
MAX_PATH = 512


def has_archive(file: IO[bytes]) -> bool:
    """Return whether the file ends with a ZIP, whatever comes before it."""
    length = file.seek(0, os.SEEK_END)
    file.seek(max(0, length - END_BYTES - MAX_COMMENT_BYTES))
    return END in file.read()


def read_charx(file: IO[bytes], table: bytes) -> FileCard:
    """Return the card of the ZIP. Raise CardFormatError, e.g. `unsafe_path` or `zip_bomb`.

    A RisuAI module in the ZIP is decoded with `table`.
    """
    archive = Archive(file)
    if CARD in archive.entries:
        known = read_json(archive.read(CARD, MAX_JSON_BYTES))
        assets, remarks = resolve(known.card, archive.find)
        if archive.entries.keys() - {CARD, MODULE, *list_paths(known.card)}:
            remarks.add("files_not_kept")
        if MODULE in archive.entries:
            remarks |= add_module(known.card, archive.peek(MODULE, MAX_BYTES), table)
        icon = choose_icon(assets)
        known.remarks.extend(sorted(remarks.difference(known.remarks)))
        return FileCard(known, icon.content if icon else None, assets)
    pictures = [path for path in archive.entries if path.lower().endswith(".png")]
    if len(pictures) != 1:
        raise CardFormatError("no_card")
    return read_png(archive.read(pictures[0], MAX_UNPACKED_BYTES))


class Archive:
    """A ZIP whose entries are all checked before any is read."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = open_zip(file, MAX_FILES)
            infos = self._zip.infolist()
            for info in infos:
                check_entry(info, most_path=MAX_PATH, most_ratio=MAX_RATIO)
        except ZipError as error:
            raise CardFormatError(error.code) from None
        self._left = MAX_UNPACKED_BYTES
        self.entries = {info.filename: info for info in infos if not info.is_dir()}
        if len({info.filename for info in infos}) != len(infos):
            raise CardFormatError("broken_zip")  # a name occurs twice: programs differ in which they read

    def find(self, path: str, max_bytes: int) -> bytes | None:
        """Return the entry's content, or None if there is no such entry. Raise CardFormatError as `read` does."""
        info = self.entries.get(path)
        if info and info.file_size > max_bytes:
            raise CardFormatError("too_large")
        return self.read(path, max_bytes) if info else None

    def peek(self, path: str, max_bytes: int) -> bytes:
        """Return the first `max_bytes` of the entry, or b"" if it is broken."""
        try:
            with self._zip.open(self.entries[path]) as file:
                return file.read(max_bytes)
        except BROKEN:
            return b""

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return the entry, decompressed within limits. Raise CardFormatError `too_large`, `zip_bomb`, `broken_zip`."""
        try:
            with self._zip.open(self.entries[path]) as file:
                content = file.read(min(max_bytes, self._left) + 1)
        except BROKEN:
            raise CardFormatError("broken_zip") from None
        if len(content) > max_bytes:
            raise CardFormatError("too_large")
        self._left -= len(content)
        if self._left < 0:
            raise CardFormatError("zip_bomb")
        return content


def write_charx(card: bytes, assets: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a ZIP of card.json and the assets; the same input gives the same bytes."""
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for path, content in [(CARD, card), *assets]:
            info = ZipInfo(path)  # dated 1 January 1980
            info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            info.compress_type = ZIP_DEFLATED if path == CARD else ZIP_STORED
            archive.writestr(info, content)
    return file.getvalue()


def is_safe_path(path: str) -> bool:
    return 0 < len(path) <= MAX_PATH and path.isascii() and not UNSAFE.search(path) and not path.endswith("/")
