"""Taking back what was learnt: it is closed with its time, kept, and linked to what replaced it; nothing is deleted.

What a companion took back because its person asked for that is noted, so that the person can undo it.
"""

from collections.abc import Collection
from datetime import datetime, tzinfo
from uuid import UUID

from django.db import transaction

from memory.always import set_slot
from memory.consolidating.undoing import CHANGED, reopen
from memory.errors import UndoError
from memory.keeping import keep_fact
from memory.models import Memory, Retraction, Slot
from memory.models.always import By


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


def note_retraction(memory: Memory, reply_id: UUID | None, now: datetime, slot: str = "") -> Retraction:
    """The note that a companion closed this memory as it was asked to; `slot` had held what it says."""
    given = {"reply_id": reply_id, "slot": slot, "made_at": now}
    noted, _is_new = Retraction.objects.update_or_create(
        companion_id=memory.companion_id, memory=memory, defaults=given
    )
    return noted


@transaction.atomic
def undo_retraction(retraction: Retraction, now: datetime) -> None:
    """What was closed holds again, what replaced it does not, and the note is gone.

    Call it with the companion locked. Raises UndoError where what replaced it was changed since, and AlwaysError where a
    slot cannot be filled again.
    """
    memory, new = retraction.memory, retraction.memory.replaced_by
    if retraction.slot:
        _refill(retraction)
        memory.delete()  # it only told what had stood in the slot
        return
    if new is not None:
        if new.closed_at or (new.edited_at and new.edited_at > retraction.made_at):
            raise UndoError(*CHANGED)
        retract(new, now)
    reopen([memory])
    retraction.delete()


def _refill(retraction: Retraction) -> None:
    memory, name = retraction.memory, retraction.slot
    mine = Slot.objects.filter(companion_id=retraction.companion_id, name=name)
    if mine.filter(changed_at__gt=retraction.made_at).exists():
        raise UndoError(*CHANGED)
    text, sources = memory.text.removeprefix(f"{name}: "), memory.sources.values_list("pk", flat=True)
    set_slot(memory.companion_id, name, text, by=By.USER, now=memory.happened_at, source_ids=list(sources))
