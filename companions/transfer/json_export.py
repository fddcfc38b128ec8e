"""Export of all data of a companion as JSON, read in batches and sent as it is read, so that it takes little memory."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import orjson
from asgiref.sync import async_to_sync
from django.db import models
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header

from accounts.limits import admission
from companions.archives.sections import SECTIONS
from companions.models import Companion, Delivery, PastImport
from jobs.background import in_thread

VERSION = 1
JSON_BEGINNING = b'{"format":"kith",'
BATCH = 500
NOT_EXPORTED = {
    "companions.Prompt": "what was sent, made of what is here; kept for 30 days alone",
    "companions.Closing": "work under way, of which nothing is kept but what is here",
    "companions.Comparison": "a question that waits for its person, of two models that are the operator's",
    "companions.ComparedExchange": "answers that were never given, made of what is here; kept as long as prompts",
    "companions.JournalEntry": "how to go from one branch to another; what was said on each is here",
    "companions.MessageWords": "numbers by which messages are found, made of the texts that are here",
    "companions.GalleryCharacter": "what was published of it, which belongs to the account, and is in its file",
    "companions.ArchiveUpload": "the file that it came with, which is its person's",
    "companions.Job": "how far work is that was asked for",
    "memory.Embedding": "vectors, made of the texts that are here",
    "companions.ForgetProposal": "a question that waits for its person",
    "memory.Forgotten": "digests of words, by which forgotten things are not learnt again",
    "memory.Retraction": "how to undo what was closed, which is here",
    "accounts.ModelCall": "what was used, counted for the account and not for its companion",
    "accounts.SoundCall": "the same of speech and hearing",
    "voice.Speech": "sound, made of the texts that are here; its files are named",
    "voice.Spoken": "which sentences were read out",
}
# The exported tables, by their name in the file, each with its lookup to the companion: those of an archive, with all
# their columns, and two more. Packages above add theirs.
NAMES = {"card": "cards", "portrait": "portraits"}  # names that differ from the archive's
EXPORTED: dict[str, tuple[type[models.Model], str]] = {
    NAMES.get(name, name): (section.model, section.way)
    for name, section in SECTIONS.items()
    if name != "companion"
    and section.model._meta.label not in NOT_EXPORTED
    and not section.model._meta.auto_created  # links are exported with the row that has them
}
EXPORTED |= {"deliveries": (Delivery, "companion"), "past_imports": (PastImport, "companion")}
# Not exported: internals of reading and leasing, the owner, prompts as sent, and file names in the storage.
SKIPPED_COLUMNS = {"entry", "lease_by", "lease_at", "draft", "user_id", "prompt", "shown", "key", "missed_at"}


async def export_json(companion: Companion, now: datetime) -> AsyncIterator[bytes]:
    """Yield the file in pieces: a JSON object with the companion, and one list for each table.

    The batches are read one after the other, so a message saved meanwhile may be in one list and not in another.
    """
    head = {"format": "kith", "version": VERSION, "exported_at": now, "companion": _write_row(companion)}
    head["person"] = {"name": companion.user.name, "about": companion.user.about}
    yield orjson.dumps(head)[:-1]
    for name, (model, way) in EXPORTED.items():
        yield f',\n"{name}":['.encode()
        after, is_first = None, True
        while rows := await in_thread(_load_batch, model, way, companion, after):
            after = rows[-1].pk
            lines = b",\n".join(orjson.dumps(_write_row(row)) for row in rows)
            yield lines if is_first else b",\n" + lines
            is_first = False
        yield b"]"
    yield b"}\n"


def _load_batch(model: type[models.Model], way: str, companion: Companion, after: Any) -> list[models.Model]:
    """Return the next rows after the key `after`, of all branches: one query, plus one per many-to-many field."""
    rows = model._base_manager.filter(**{way: companion.pk}).order_by("pk")
    rows = rows.filter(pk__gt=after) if after is not None else rows
    return list(rows.prefetch_related(*(field.name for field in model._meta.many_to_many))[:BATCH])


def _write_row(row: models.Model) -> dict[str, Any]:
    fields = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    links = {
        field.name: [linked.pk for linked in getattr(row, field.name).all()]
        for field in row._meta.many_to_many
    }
    return {name: value for name, value in {**fields, **links}.items() if name not in SKIPPED_COLUMNS}


def stream_file(pieces: AsyncIterator[bytes], content_type: str, name: str) -> StreamingHttpResponse:
    """Return a response that streams a person's own file; raise GateError if they are streaming too many already."""
    async_to_sync(admission.take)("exports")
    response = StreamingHttpResponse(pieces, content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(True, name)
    response["Cache-Control"] = "private, no-store"
    return response


def export_response(companion: Companion) -> StreamingHttpResponse:
    """Return a streaming response with all data of the companion as a JSON file."""
    now = timezone.now()
    return stream_file(
        export_json(companion, now), "application/json", f"kith-{companion.pk}-{now:%Y-%m-%d}.json"
    )
