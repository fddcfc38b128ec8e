"""Marks: the message, or the end of a branch, after which each journaled change was made."""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import connection

from companions.models import JournalEntry, Session, Timer
from database.journal import replaying
from memory.deletion import delete_memories
from memory.models import Memory

MOVE = """
UPDATE companions_journalentry entry SET at = moved.other
FROM unnest(%s::uuid[], %s::uuid[]) AS moved (mark, other) WHERE entry.companion_id = %s AND entry.at = moved.mark
"""


def move_marks(companion_id: UUID, moved: Mapping[UUID, UUID | None]) -> None:
    """Move journaled changes from one mark to another. If the other is None, they hold on every branch from now on."""
    others = {mark: other for mark, other in moved.items() if other}
    with connection.cursor() as cursor:
        cursor.execute(MOVE, [list(others), list(others.values()), companion_id])
    if len(others) < len(moved):
        JournalEntry.objects.filter(companion=companion_id, at__in=moved.keys() - others).delete()


def drop_changes(companion_id: UUID, marks: Collection[UUID]) -> None:
    """Delete the undone changes with these `marks`, which no branch leads to any more, and the sleeping rows they made.

    A session is deleted only if none of its messages is left.
    """
    entries = JournalEntry.objects.filter(companion=companion_id, at__in=marks, is_undone=True)

    def find(table: str) -> list[str]:
        return list(entries.filter(table=table, kind=JournalEntry.Kind.INSERT).values_list("row", flat=True))

    with replaying():
        memories = Memory.everywhere.of(companion_id).filter(pk__in=find("memory_memory"), is_asleep=True)
        delete_memories(companion_id, list(memories.values_list("pk", flat=True)))
        timers = Timer.everywhere.filter(
            companion=companion_id, pk__in=find("companions_timer"), is_asleep=True
        )
        timers.delete()
        sessions = Session.everywhere.filter(companion=companion_id, pk__in=find("companions_session"))
        sessions.filter(is_asleep=True, messages=None).delete()
        entries.delete()
