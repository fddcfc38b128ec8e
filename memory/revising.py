"""Taking back what was learnt: it is closed with its time, kept, and linked to what replaced it; nothing is deleted."""

from collections.abc import Collection
from datetime import datetime, tzinfo
from uuid import UUID

from django.db import transaction

from memory.keeping import keep_fact
from memory.models import Memory, Slot


@transaction.atomic
def revise(memory: Memory, text: str, now: datetime, source_ids: Collection[UUID], zone: tzinfo) -> Memory:
    """The memory that replaces it, of the same kind and weight, with the sources of both."""
    ids = list({*source_ids, *memory.sources.values_list("pk", flat=True)})
    new = keep_fact(memory.companion_id, text, now, now, ids, zone=zone)
    new.kind, new.importance, new.tags, new.is_pinned = (
        *(memory.kind, memory.importance, memory.tags),
        memory.is_pinned,
    )
    new.save(update_fields=["kind", "importance", "tags", "is_pinned"])
    retract(memory, now, replaced_by=new)
    return new


def retract(memory: Memory, now: datetime, replaced_by: Memory | None = None) -> None:
    """The memory does not hold any more from now on; looked at as of an earlier day, it does."""
    memory.closed_at, memory.replaced_by = now, replaced_by
    memory.save(update_fields=["closed_at", "replaced_by"])


@transaction.atomic
def keep_earlier(slot: Slot, now: datetime, zone: tzinfo) -> Memory:
    """What stood in a slot until now, as a closed fact: what a companion lets go of is not lost."""
    sources = list(slot.sources.values_list("pk", flat=True))
    memory = keep_fact(
        slot.companion_id, f"{slot.name}: {slot.text}", slot.changed_at, now, sources, zone=zone
    )
    retract(memory, now)
    return memory
