"""Keeping what was said and what was told to be remembered, and correcting it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Model

from memory import nudging
from memory.entries import pack
from memory.models import Memory, Page
from memory.tasks import embed_companion
from memory.terms import terms
from memory.text import storable
from memory.together import Asked, together
from memory.traits import traits
from memory.writing import insert, inserting

NUDGED_SECONDS = 1.0  # so that what is said is answered first, on a machine that does both
AT_ONCE = 1000  # rows in a statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing said: by whom ("user" or "companion"), when, and in which message."""

    message_id: UUID
    text: str
    speaker: str
    happened_at: datetime


def keep_said(
    companion_id: UUID,
    said: Sequence[Said],
    now: datetime,
    *,
    zone: tzinfo = UTC,
    messages: Sequence[Model] = (),
    then: Sequence[Asked[Any]] = (),
) -> list[Memory]:
    """The memories of what was said, recallable by their words at once. Call it inside the transaction that saves them.

    `zone` is the user's: it decides on which day a thing was said. `messages` are those in which it was said, where they
    are to be saved with them; a query for each thousand rows. `then` is asked with the last.
    """
    memories = [
        Memory(
            companion_id=companion_id,
            kind=Memory.Kind.SAID,
            text=storable(one.text),
            speaker=one.speaker,
            happened_at=one.happened_at,
            learnt_at=now,
            message_id=one.message_id,
            entry=entry_of(one.text, one.speaker, one.happened_at, zone),
        )
        for one in said
    ]
    rows = [*messages, *memories]
    last = max(len(rows) - 1, 0) // AT_ONCE * AT_ONCE
    for first in range(0, last, AT_ONCE):
        insert(*rows[first : first + AT_ONCE])
    together(*inserting(*rows[last:]), *then)
    nudge(companion_id)
    return memories


def keep_fact(
    companion_id: UUID,
    text: str,
    happened_at: datetime,
    now: datetime,
    source_ids: Sequence[UUID] = (),
    call_id: int | None = None,
    *,
    zone: tzinfo = UTC,
) -> Memory:
    """The memory of a fact, with the messages that it comes from and the model call that made it."""
    text = storable(text)
    with transaction.atomic():
        memory = Memory.objects.create(
            companion_id=companion_id,
            kind=Memory.Kind.FACT,
            text=text,
            happened_at=happened_at,
            learnt_at=now,
            call_id=call_id,
            entry=entry_of(text, "", happened_at, zone),
        )
        Source = Memory.sources.through
        Source.objects.bulk_create(Source(memory_id=memory.pk, message_id=pk) for pk in source_ids)
        nudge(companion_id)
    return memory


def entry_of(text: str, speaker: str, happened_at: datetime, zone: tzinfo, page: str = "") -> bytes:
    """What recall reads of such a memory: in the user's zone, for "yesterday" in it is theirs.

    The gist of a page is found by the page's words as well, where "yesterday" is nobody's day.
    """
    when = happened_at.astimezone(zone)
    found_by = terms(f"{text}\n\n{page}") if page else terms(text, when)
    return pack(when, traits(text, speaker), found_by)


def correct(memory: Memory, text: str, now: datetime, happened_at: datetime | None = None) -> None:
    """Give a memory another text: found by the new words at once, and by the new meaning when it is embedded again.

    Where `happened_at` is given, it happened then.
    """
    with transaction.atomic():
        memory.text = storable(text)
        memory.edited_at = now
        memory.happened_at = happened_at or memory.happened_at
        page = Page.objects.filter(companion_id=memory.companion_id, memory=memory).first()
        told, zone = page.text if page else "", memory.companion.user.zone
        memory.entry = entry_of(text, memory.speaker, memory.happened_at, zone, page=told)
        memory.save(update_fields=["text", "edited_at", "happened_at", "entry"])
        if page:
            Page.objects.filter(companion_id=memory.companion_id, pk=page.pk).update(gist=memory.text)
        memory.embeddings.all().delete()
        nudge(memory.companion_id)


def nudge(companion_id: UUID) -> None:
    """Ask for embedding after the commit."""
    nudging.nudge_quietly(embed_companion, str(companion_id), seconds=NUDGED_SECONDS)
