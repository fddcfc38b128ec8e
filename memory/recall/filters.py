"""Which of a companion's memories there are for a question, and which of those may come back."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from memory.errors import FilterError
from memory.models import Memory
from memory.models.memory import MemoryQuerySet, from_messages


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Filters for recall and for lists; nothing given, nothing is left out but what no longer holds.

    What models are given leaves out what is private, and what is stale; its owner looks `with_private`.

    What there is at all: `as_of` looks back to what had happened and still held then; `leaving_out` are ids of
    messages and `leaving_out_memories` of memories that are known anyway. The rest is not there: it lends its
    neighbours nothing, and no term is rarer or more common for it.

    What may come back: memories of these `kinds`, said by this `speaker` ("user" or "companion"), which happened from
    `since` on and before `until`, which come from one of these messages, the `sources`, or which `is_pinned`. What
    may not still counts: what the one says is understood by what the other asked, whoever's words are wanted.

    Raises FilterError where a time names no zone, where `since` lies after `until`, and for a kind or speaker that
    there is not.
    """

    kinds: Collection[str] = ()
    speaker: str = ""
    since: datetime | None = None
    until: datetime | None = None
    sources: Collection[UUID] = ()
    is_pinned: bool = False
    with_private: bool = False
    as_of: datetime | None = None
    leaving_out: Collection[UUID] = ()
    leaving_out_memories: Collection[UUID] = ()

    def __post_init__(self) -> None:
        for at in (self.since, self.until, self.as_of):
            if at is not None and at.utcoffset() is None:
                raise FilterError(f"The time {at} names no zone.")
        if self.since and self.until and self.since > self.until:
            raise FilterError(
                f"Nothing happened since {self.since} and before {self.until}, which is earlier."
            )
        for word, words in (*((kind, Memory.Kind) for kind in self.kinds), (self.speaker, Memory.Speaker)):
            if word and word not in words.values:
                raise FilterError(f"There is no {word!r}; there are {', '.join(words.values)}.")

    def narrow(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """Return those of the memories that there are."""
        there = memories.as_of(self.as_of) if self.as_of else memories.open()
        there = there.leaving_out(self.leaving_out, self.leaving_out_memories)
        return there if self.with_private else there.filter(is_private=False, is_stale=False)

    @property
    def wanted(self) -> Q:
        """What may come back of them; an empty condition where all may."""
        wanted = Q(kind__in=self.kinds) if self.kinds else Q()
        wanted &= Q(speaker=self.speaker) if self.speaker else Q()
        wanted &= Q(happened_at__gte=self.since) if self.since else Q()
        wanted &= Q(happened_at__lt=self.until) if self.until else Q()
        wanted &= from_messages(self.sources) if self.sources else Q()
        return wanted & (Q(is_pinned=True) if self.is_pinned else Q())

    def apply(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """Return those of the memories that there are and that may come back: a list of them."""
        return self.narrow(memories).filter(self.wanted)


EVERYTHING = MemoryFilter()
