"""Searching by words alone: which memories hold them, the newest first. Nothing is ranked, nothing strengthened."""

from datetime import datetime, tzinfo
from uuid import UUID

import numpy as np

from memory.among import Among
from memory.entries import code
from memory.held import lying
from memory.models import Memory
from memory.models.memory import MemoryQuerySet
from memory.terms import terms

MOST_SOUGHT = 2000
LEARNT = [kind for kind in Memory.Kind if kind not in {Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.GIST}]


def search(companion_id: UUID, words: str, among: Among, now: datetime, zone: tzinfo) -> list[UUID]:
    """The ids of at most 2,000 memories that hold all the words, in any script; where none does, those with the most.

    The newest first. `zone` is the user's: "yesterday" is theirs. One SQL query, two where messages are left out.
    """
    wanted = sorted({code(term) for term in terms(words, now.astimezone(zone))})
    if not wanted:
        return []
    mine = lying(companion_id, among).without(among.left_out(companion_id))
    places, at = mine.entries.having(wanted)
    once = np.unique(places * len(wanted) + at)
    hits = np.bincount(once // len(wanted), minlength=len(mine))
    hits[~mine.may_come] = 0
    if not hits.any():
        return []
    places = np.flatnonzero(hits == hits.max())[::-1]
    return mine.ids_of(places[:MOST_SOUGHT])


def told(companion_id: UUID) -> MemoryQuerySet:
    """What models may be given of the companion's memories: nothing private, nothing from a hidden message."""
    mine = Memory.objects.of(companion_id).filter(is_private=False).exclude(message__is_hidden=True)
    return mine.select_related("message").defer("entry")
