"""Archives for tests: packed, unpacked, and made again with something else in them."""

import hashlib
import io
import json
from collections.abc import Callable
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from asgiref.sync import async_to_sync

from accounts.models import User
from companions.archives.export import export_archive
from companions.archives.restore import restore
from companions.models import Companion
from files.archives import Archive
from tests.companions.archives.everything import NOON

Entries = dict[str, bytes]
Edit = Callable[[Entries], Any]


def pack(companion: Companion) -> bytes:
    async def join() -> bytes:
        return b"".join([piece async for piece in export_archive(companion, NOON)])

    return async_to_sync(join)()


def unpack(user: User, archive: bytes) -> Companion:
    opened = Archive(io.BytesIO(archive))
    return restore(user, opened, NOON).companion


def empty_archive() -> bytes:
    """An archive that holds nothing but its list, which can be looked at and not restored."""
    manifest = {"format": "kith-archive", "version": "1.0", "made_at": NOON.isoformat(), "sections": {}}
    return write_entries({"manifest.json": json.dumps({**manifest, "companion": {"name": "Mira"}}).encode()})


def read_entries(archive: bytes) -> Entries:
    with ZipFile(io.BytesIO(archive)) as opened:
        return {info.filename: opened.read(info) for info in opened.infolist()}


def write_entries(entries: Entries) -> bytes:
    written = io.BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        for path, content in entries.items():
            archive.writestr(path, content)
    return written.getvalue()


def edit(archive: bytes, *edits: Edit) -> bytes:
    """The archive with other contents, of which its list tells the truth."""
    entries = read_entries(archive)
    for change in edits:
        change(entries)
    manifest = json.loads(entries["manifest.json"])
    for path, content in entries.items():
        name, _, ending = path.partition(".")
        if ending == "ndjson":
            lines = content.count(b"\n")
            told = {"rows": lines, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            manifest["sections"][name] = told
    entries["manifest.json"] = json.dumps(manifest).encode()
    return write_entries(entries)


def rows(name: str, change: Callable[[list[dict[str, Any]]], Any]) -> Edit:
    """Change the rows of a section in place."""

    def apply(entries: Entries) -> None:
        listed = [json.loads(line) for line in entries[f"{name}.ndjson"].splitlines()]
        change(listed)
        entries[f"{name}.ndjson"] = b"".join(json.dumps(row).encode() + b"\n" for row in listed)

    return apply


def listed(**changed: Any) -> Edit:
    """Change what the archive says of itself."""

    def apply(entries: Entries) -> None:
        entries["manifest.json"] = json.dumps(json.loads(entries["manifest.json"]) | changed).encode()

    return apply
