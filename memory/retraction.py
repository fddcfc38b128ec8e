"""What a companion took back because its person asked for that: noted, so that the person can undo it."""

from datetime import datetime, tzinfo
from uuid import UUID

from django.db import transaction

from memory.core_memory import set_slot
from memory.errors import UndoError
from memory.models import Memory, Retraction, Slot
from memory.models.always import By
from memory.store import CHANGED, keep_fact, reopen, retract


@transaction.atomic
def keep_earlier(slot: Slot, now: datetime, zone: tzinfo) -> Memory:
    """Keep what stood in a slot until now as a closed fact: what a companion lets go of is not lost."""
    sources = list(slot.sources.values_list("pk", flat=True))
    memory = keep_fact(
        slot.companion_id, f"{slot.name}: {slot.text}", slot.changed_at, now, sources, zone=zone
    )
    retract(memory, now)
    return memory


def note_retraction(memory: Memory, reply_id: UUID | None, now: datetime, slot: str = "") -> Retraction:
    """Note that a companion closed this memory as it was asked to; `slot` had held what it says."""
    given = {"reply_id": reply_id, "slot": slot, "made_at": now}
    noted, _is_new = Retraction.objects.update_or_create(
        companion_id=memory.companion_id, memory=memory, defaults=given
    )
    return noted


@transaction.atomic
def undo_retraction(retraction: Retraction, now: datetime) -> None:
    """Let hold again what was closed, and close what replaced it; the note is gone.

    Call it with the companion locked. Raise UndoError where what replaced it was changed since, CoreMemoryError where a
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
    reopen(memory)
    retraction.delete()


def _refill(retraction: Retraction) -> None:
    memory, name = retraction.memory, retraction.slot
    mine = Slot.objects.filter(companion_id=retraction.companion_id, name=name)
    if mine.filter(changed_at__gt=retraction.made_at).exists():
        raise UndoError(*CHANGED)
    text, sources = memory.text.removeprefix(f"{name}: "), memory.sources.values_list("pk", flat=True)
    set_slot(memory.companion_id, name, text, by=By.USER, now=memory.happened_at, source_ids=list(sources))
