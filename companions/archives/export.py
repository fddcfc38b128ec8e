"""Stream a companion's archive while it is written: rows from one snapshot of the database, files, and the manifest."""

import asyncio
import base64
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import datetime
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import orjson
from django.db import connection, transaction
from django.db.models import Max, Min
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.text import slugify

from companions.archives.journal import write_entry
from companions.archives.manifest import FORMAT, MANIFEST, README, README_TEXT, VERSION
from companions.archives.sections import JOURNAL, SECTIONS, Section
from companions.models import Companion, Message
from companions.transfer.json_export import stream_file
from database.queries import lift_statement_timeout
from files.archives import Digest, Outlet
from files.contents import open_content
from files.errors import ContentLostError
from files.models import StoredFile
from jobs.background import in_thread
from memory.models import Memory

BATCH = 2_000
PIECE_BYTES = 256_000
PACKED = {"audio/mpeg", "audio/wav", "image/webp"}  # stored uncompressed, since compressing gains nothing


async def export_archive(companion: Companion, now: datetime) -> AsyncIterator[bytes]:
    """Yield the ZIP file piece by piece.

    The rows are spooled to a temporary file first, so that a slow download does not keep the transaction open.
    """
    outlet = Outlet()
    with tempfile.TemporaryFile() as rows, ZipFile(outlet, "w", ZIP_DEFLATED) as archive:
        archive.writestr(README, README_TEXT)
        yield outlet.take()  # so that the download begins at once
        manifest = await in_thread(_write_rows, companion, archive, outlet, rows, now)
        rows.seek(0)
        while piece := await asyncio.to_thread(rows.read, PIECE_BYTES):
            yield piece
        async for piece in _write_files(companion, archive, outlet, manifest):
            yield piece
        archive.writestr(MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=2))
    yield outlet.take()


def archive_response(companion: Companion) -> StreamingHttpResponse:
    """Return a response that streams the companion's archive; raise GateError if its user is streaming too many."""
    now = timezone.now()
    name = slugify(companion.name, allow_unicode=True) or f"kith-{companion.pk}"
    return stream_file(export_archive(companion, now), "application/zip", f"{name}-{now:%Y-%m-%d}.zip")


def _write_rows(
    companion: Companion, archive: ZipFile, outlet: Outlet, rows: IO[bytes], now: datetime
) -> dict[str, Any]:
    """Write every section, and return the manifest without its files yet."""
    sections: dict[str, Any] = {}
    with transaction.atomic():
        with connection.cursor() as cursor:  # so that all sections come from one snapshot
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        lift_statement_timeout()
        for name, section in SECTIONS.items():
            digest, count = Digest(), 0
            with archive.open(f"{name}.ndjson", "w", force_zip64=True) as entry:
                for line in _list_lines(companion, section):
                    entry.write(line)
                    digest.add(line)
                    count += 1
                    if count % BATCH == 0:
                        rows.write(outlet.take())
            rows.write(outlet.take())
            sections[name] = {"rows": count, "bytes": digest.bytes, "sha256": digest.sha256}
        said = Message.everywhere.filter(companion=companion)
        learnt = Memory.everywhere.of(companion.pk).learnt().count()
        span = said.aggregate(first=Min("said_at"), last=Max("said_at"))
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_at": now.isoformat(),
        "companion": {"name": companion.name, "tint": companion.tint},
        "span": {key: at.isoformat() if at else None for key, at in span.items()},
        "learnt": learnt,
        "sections": sections,
        "files": {"count": 0, "bytes": 0},
        "missing": [],
    }


def _list_lines(companion: Companion, section: Section) -> Iterator[bytes]:
    mine = section.model._base_manager.filter(section.only, **{section.way: companion.pk}).order_by("pk")
    for row in mine.values(*section.fields).iterator(BATCH):
        yield _dump(write_entry(row) if section is JOURNAL else row) + b"\n"


def _dump(row: dict[str, Any]) -> bytes:
    def encode(value: Any) -> str:
        return base64.b64encode(value).decode() if isinstance(value, bytes | memoryview) else str(value)

    try:
        return orjson.dumps(row, default=encode)
    except TypeError:  # orjson refuses integers above 64 bits, which a card may hold
        return json.dumps(row, default=encode, ensure_ascii=False).encode()


async def _write_files(
    companion: Companion, archive: ZipFile, outlet: Outlet, manifest: dict[str, Any]
) -> AsyncIterator[bytes]:
    """Yield the companion's files and count them in the manifest; files whose content is lost go to `missing`.

    Raise StorageAwayError, which ends the download, if the storage fails: none of its files is lost.
    """
    section = SECTIONS["files"]
    mine = StoredFile.objects.filter(section.only, companion=companion.pk).order_by("pk")
    for file in await in_thread(lambda: list(mine)):
        try:
            part = await in_thread(open_content, file)
        except ContentLostError:
            manifest["missing"].append(str(file.pk))
            continue
        info = ZipInfo(f"files/{file.pk}", file.created_at.timetuple()[:6])
        info.compress_type = ZIP_STORED if file.content_type in PACKED else ZIP_DEFLATED
        info.external_attr = 0o100600 << 16
        with closing(part), archive.open(info, "w", force_zip64=True) as entry:
            while piece := await asyncio.to_thread(part.read, PIECE_BYTES):
                await asyncio.to_thread(entry.write, piece)
                yield outlet.take()
        manifest["files"]["count"] += 1
        manifest["files"]["bytes"] += file.bytes
