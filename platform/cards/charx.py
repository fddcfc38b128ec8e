"""CHARX: a ZIP with card.json and its assets, behind a JPEG or a program too, or with a PNG card in it."""

import io
import re
import stat
import struct
import zlib
from collections.abc import Sequence
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from cards.assets import FileCard, choose_icon, embedded_path, resolve
from cards.errors import CardFormatError
from cards.png import read_png
from cards.schema import read_json
from cards.values import MAX_JSON_BYTES

CARD = "card.json"
END = b"PK\5\6"
ZIP64 = b"PK\6\7"
MAX_FILES = 1_500
MAX_DIRECTORY_BYTES = MAX_FILES * 400
MAX_UNPACKED_BYTES = 60_000_000
MAX_RATIO = 200  # of an entry above a megabyte: text may have fifty, media hardly two
RATIO_FROM_BYTES = 1_000_000
MAX_PATH = 512
# A path that leaves its folder, or that some system would not take as one below it.
UNSAFE = re.compile(r"^/|^[A-Za-z]:|\\|[\x00-\x1f\x7f]|(?:^|/)\.\.?(?:/|$)|//")
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


def has_archive(content: bytes) -> bool:
    """Return whether a ZIP ends here, whatever stands before it."""
    return content.rfind(END, max(0, len(content) - 22 - 65_535)) >= 0


def read_charx(content: bytes) -> FileCard:
    """Return the card of the ZIP. CardFormatError, `unsafe_path` and `zip_bomb` among others."""
    _check_directory(content)
    archive = Archive(content)
    if CARD in archive.entries:
        known = read_json(archive.read(CARD, MAX_JSON_BYTES))
        assets, remarks = resolve(known.card, archive.find)
        read = {CARD} | {path for asset in assets if (path := embedded_path(asset.uri))}
        if archive.entries.keys() - read:
            remarks.add("files_not_kept")
        icon = choose_icon(assets)
        known.remarks.extend(sorted(remarks))
        return FileCard(known, icon.content if icon else None, assets)
    pictures = [path for path in archive.entries if path.lower().endswith(".png")]
    if len(pictures) != 1:
        raise CardFormatError("no_card")
    return read_png(archive.read(pictures[0], MAX_UNPACKED_BYTES))


def _check_directory(content: bytes) -> None:
    """Refuse a directory that would cost much to read, before it is read. CardFormatError."""
    at = content.rfind(END, max(0, len(content) - 22 - 65_535))
    if at < 0 or at + 22 > len(content) or content[max(0, at - 20) : at].startswith(ZIP64):
        raise CardFormatError("broken_zip")
    _disk, _first, _here, count, size = struct.unpack_from("<HHHHI", content, at + 4)
    if count > MAX_FILES or size > MAX_DIRECTORY_BYTES:
        raise CardFormatError("too_many_files")


class Archive:
    """A ZIP whose every entry was looked at before any is read."""

    def __init__(self, content: bytes) -> None:
        try:
            self._zip = ZipFile(io.BytesIO(content))
        except BROKEN:
            raise CardFormatError("broken_zip") from None
        self._left = MAX_UNPACKED_BYTES
        infos = self._zip.infolist()
        if len(infos) > MAX_FILES:
            raise CardFormatError("too_many_files")
        for info in infos:
            _check_entry(info)
        self.entries = {info.filename: info for info in infos if not info.is_dir()}
        if len({info.filename for info in infos}) != len(infos):
            raise CardFormatError("broken_zip")  # two of one name: each program would read another

    def find(self, path: str, max_bytes: int) -> bytes | None:
        """Return the entry; nothing where there is none, or more of it than is allowed."""
        info = self.entries.get(path)
        return self.read(path, max_bytes) if info and info.file_size <= max_bytes else None

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return the entry inflated, counted while it is. CardFormatError `too_large`, `zip_bomb`, `broken_zip`."""
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


def _check_entry(info: ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if len(info.filename) > MAX_PATH or UNSAFE.search(info.orig_filename):
        raise CardFormatError("unsafe_path")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise CardFormatError("unsafe_path")  # a link or a device
    if info.flag_bits & 0x1 or info.flag_bits & 0x40:
        raise CardFormatError("encrypted_zip")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise CardFormatError("broken_zip")
    if info.file_size > RATIO_FROM_BYTES and info.file_size > MAX_RATIO * info.compress_size:
        raise CardFormatError("zip_bomb")


def write_charx(card: bytes, assets: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a ZIP of card.json and these, byte for byte the same each time."""
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for path, content in [(CARD, card), *assets]:
            info = ZipInfo(path)  # of 1 January 1980
            info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            info.compress_type = ZIP_DEFLATED if path == CARD else ZIP_STORED
            archive.writestr(info, content)
    return file.getvalue()


def is_safe_path(path: str) -> bool:
    return 0 < len(path) <= MAX_PATH and path.isascii() and not UNSAFE.search(path) and not path.endswith("/")
