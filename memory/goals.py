"""A companion's goals and ideas: finding them by words, beginning one, updating its progress."""

from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from django.db import transaction

from memory.models import Memory, Pursuit
from memory.recall.candidates import MemoryFilter
from memory.recall.recall import search
from memory.recall.traits import terms
from memory.store import keep_fact
from text.strings import folded

PURSUED = (Memory.Kind.GOAL, Memory.Kind.IDEA)


def find_goals(companion_id: UUID, words: str, now: datetime, zone: tzinfo) -> list[Pursuit]:
    """Return the goals and ideas that hold all of these words, or only those that are exactly these words, if any."""
    ids = search(companion_id, words, MemoryFilter(kinds=PURSUED), now, zone)
    mine = Pursuit.objects.filter(companion_id=companion_id, memory__in=ids).select_related("memory")
    wanted = set(terms(words))
    found = [goal for goal in mine if wanted and wanted <= set(terms(goal.memory.text))]
    same = [goal for goal in found if folded(goal.memory.text.strip()) == folded(words.strip())]
    return same or found


@transaction.atomic
def begin_goal(
    companion_id: UUID,
    kind: Memory.Kind,
    text: str,
    now: datetime,
    source_ids: Iterable[UUID],
    zone: tzinfo,
    origin: Pursuit.Origin = Pursuit.Origin.REFLECTION,
) -> Pursuit:
    """Save a new goal or idea, and return its pursuit."""
    memory = keep_fact(companion_id, text, now, now, source_ids, zone=zone, kind=kind)
    return Pursuit.objects.create(companion_id=companion_id, memory=memory, origin=origin, reviewed_at=now)


def update_goal(pursuit: Pursuit, now: datetime, **stands: Any) -> None:
    """Set the pursuit's status, progress (0 to 100) or excitement (1 to 10); a status of done sets progress to 100."""
    before = pursuit.status, pursuit.progress
    for name, value in stands.items():
        setattr(pursuit, name, value)
    if pursuit.status == Pursuit.Status.DONE:
        pursuit.progress = 100
    pursuit.reviewed_at = now
    if (pursuit.status, pursuit.progress) != before:
        pursuit.moved_at = now
    pursuit.save(update_fields=["status", "progress", "excitement", "reviewed_at", "moved_at"])
