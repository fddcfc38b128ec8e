"""The store: saves memories, corrects them, and closes or replaces them; undoes what a companion took back."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from jobs.background import enqueue
from memory.core_memory import set_slot
from memory.errors import UndoError
from memory.models import Memory, Page, Retraction, Slot
from memory.models.core_memory import By
from memory.recall.candidates import pack
from memory.recall.traits import terms, traits
from text.strings import storable

EMBEDDING_DELAY_SECONDS = 1.0  # so that the reply comes first, where one machine runs both models
BATCH = 1000
CARRIED_OVER = ("kind", "importance", "tags", "is_pinned")  # to the memory that replaces another
CHANGED = (
    "changed_since",
    _("This has since been changed or deleted, so it can no longer be done. Nothing was changed."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message to be kept as a memory; `speaker` is "user" or "companion"."""

    message_id: UUID
    text: str
    speaker: str
    happened_at: datetime


def keep_said(companion_id: UUID, said: Sequence[Said], now: datetime, *, zone: tzinfo) -> list[Memory]:
    """Save what was said as memories, which recall finds by their words at once.

    Call it inside the transaction that saves the messages. `zone` is the user's: it decides the day of each memory.
    """
    memories = [
        Memory(
            companion_id=companion_id,
            kind=Memory.Kind.SAID,
            text=storable(line.text),
            speaker=line.speaker,
            happened_at=line.happened_at,
            learnt_at=now,
            message_id=line.message_id,
            entry=entry_of(line.text, line.speaker, line.happened_at, zone),
        )
        for line in said
    ]
    Memory.objects.bulk_create(memories, BATCH)
    nudge(companion_id)
    return memories


def keep_fact(
    companion_id: UUID,
    text: str,
    happened_at: datetime,
    now: datetime,
    source_ids: Iterable[UUID] = (),
    *,
    zone: tzinfo = UTC,
    kind: str = Memory.Kind.FACT,
) -> Memory:
    """Save a fact, or what else the `kind` says, with the messages that it comes from."""
    text = storable(text)
    with transaction.atomic():
        memory = Memory.objects.create(
            companion_id=companion_id,
            kind=kind,
            text=text,
            happened_at=happened_at,
            learnt_at=now,
            entry=entry_of(text, "", happened_at, zone),
        )
        link_sources(memory, source_ids)
        nudge(companion_id)
    return memory


def link_sources(memory: Memory, message_ids: Iterable[UUID]) -> None:
    """Add these messages to the memory's sources."""
    Source = Memory.sources.through
    rows = [Source(memory_id=memory.pk, message_id=pk) for pk in message_ids]
    Source.objects.bulk_create(rows, ignore_conflicts=True)


def entry_of(text: str, speaker: str, happened_at: datetime, zone: tzinfo, page: str = "") -> bytes:
    """Return the packed entry that recall reads of a memory with this text.

    `zone` is the user's, in which "yesterday" in the text is read. The gist of a page passes the `page`'s text, so that
    it is found by those words as well; relative days in it are not resolved.
    """
    when = happened_at.astimezone(zone)
    found_by = terms(f"{text}\n\n{page}") if page else terms(text, when)
    return pack(when, traits(text, speaker), found_by)


def correct(memory: Memory, text: str, now: datetime, happened_at: datetime | None = None) -> None:
    """Replace a memory's text: recall finds it by the new words at once, and by meaning once it is embedded again.

    `happened_at`, if given, replaces the time at which it happened. If the memory mirrors a page, its gist changes too.
    """
    with transaction.atomic():
        memory.text = storable(text)
        memory.edited_at = now
        memory.happened_at = happened_at or memory.happened_at
        page = Page.objects.filter(companion_id=memory.companion_id, memory=memory).first()
        zone = memory.companion.user.zone
        memory.entry = entry_of(text, memory.speaker, memory.happened_at, zone, page.text if page else "")
        memory.save(update_fields=["text", "edited_at", "happened_at", "entry"])
        if page:
            Page.objects.filter(companion_id=memory.companion_id, pk=page.pk).update(gist=memory.text)
        memory.embeddings.all().delete()
        nudge(memory.companion_id)


@transaction.atomic
def revise(memory: Memory, text: str, now: datetime, source_ids: Collection[UUID], zone: tzinfo) -> Memory:
    """Close the memory and return a new one that replaces it: same kind, importance, tags and pin, sources of both."""
    ids = {*source_ids, *memory.sources.values_list("pk", flat=True)}
    new = keep_fact(memory.companion_id, text, now, now, ids, zone=zone)
    for name in CARRIED_OVER:
        setattr(new, name, getattr(memory, name))
    new.save(update_fields=CARRIED_OVER)
    retract(memory, now, replaced_by=new)
    return new


def retract(memory: Memory, now: datetime, replaced_by: Memory | None = None) -> None:
    """Close the memory as of `now`, linked to what replaced it, if anything. A look back to earlier still finds it."""
    memory.closed_at, memory.replaced_by = now, replaced_by
    memory.save(update_fields=["closed_at", "replaced_by"])


def reopen(memory: Memory) -> None:
    """Reopen a closed memory."""
    memory.closed_at, memory.replaced_by = None, None
    memory.save(update_fields=["closed_at", "replaced_by"])


def nudge(companion_id: UUID) -> None:
    """Enqueue embedding of the companion's memories after the commit."""
    enqueue("memory.tasks.embed_companion", str(companion_id), delay_seconds=EMBEDDING_DELAY_SECONDS)


# -- retractions: what a companion took back because its person asked it to, recorded so that the person can undo it


@transaction.atomic
def keep_earlier(slot: Slot, now: datetime, zone: tzinfo) -> Memory:
    """Save the slot's present text as a closed fact, so that it is not lost when the companion changes the slot."""
    sources = slot.sources.values_list("pk", flat=True)
    memory = keep_fact(
        slot.companion_id, f"{slot.name}: {slot.text}", slot.changed_at, now, sources, zone=zone
    )
    retract(memory, now)
    return memory


def note_retraction(memory: Memory, reply_id: UUID | None, now: datetime, slot: str = "") -> Retraction:
    """Record that a companion closed this memory because it was asked to. `slot` names the slot that held the text."""
    given = {"reply_id": reply_id, "slot": slot, "made_at": now}
    noted, _is_new = Retraction.objects.update_or_create(
        companion_id=memory.companion_id, memory=memory, defaults=given
    )
    return noted


@transaction.atomic
def undo_retraction(retraction: Retraction, now: datetime) -> None:
    """Reopen the closed memory, or fill its slot again; close what replaced it, and delete the retraction.

    Call it with the companion locked. Raise UndoError if the replacement or the slot was changed since, CoreMemoryError
    if the slot cannot be filled again.
    """
    memory, new = retraction.memory, retraction.memory.replaced_by
    if retraction.slot:
        mine = Slot.objects.filter(companion_id=retraction.companion_id, name=retraction.slot)
        if mine.filter(changed_at__gt=retraction.made_at).exists():
            raise UndoError(*CHANGED)
        sources = memory.sources.values_list("pk", flat=True)
        set_slot(
            memory.companion_id,
            retraction.slot,
            memory.text.removeprefix(f"{retraction.slot}: "),
            by=By.USER,
            now=memory.happened_at,
            source_ids=list(sources),
        )
        memory.delete()  # it only recorded what the slot had held
        return
    if new is not None:
        if new.closed_at or (new.edited_at and new.edited_at > retraction.made_at):
            raise UndoError(*CHANGED)
        retract(new, now)
    reopen(memory)
    retraction.delete()
