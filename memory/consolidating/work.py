"""One night's work while it is written: what was seen by its numbers, and what is done so far."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from memory.consolidating.pairs import Pair
from memory.cue import Names
from memory.models import Change, Consolidation, Memory, Pursuit


@dataclass(kw_only=True)
class Work:
    """Memories and pursuits in the order in which the model saw them, as they are now.

    `pairs` are near in meaning; `parted` are not to be merged or held against each other again: the person has undone
    that, or has it before them. `kept` is, for what was merged tonight, what it became.
    """

    night: Consolidation
    memories: Sequence[Memory]
    pursuits: Sequence[Pursuit]
    pairs: frozenset[Pair]
    now: datetime
    zone: tzinfo
    names: Names
    call_id: int | None
    parted: set[Pair] = field(default_factory=set)
    kept: dict[UUID, Memory] = field(default_factory=dict)
    done: int = 0

    def memory(self, number: int) -> Memory | None:
        """The memory of that number, or what it was merged into; None where there is none."""
        one = self.memories[number - 1] if 1 <= number <= len(self.memories) else None
        return self.kept.get(one.pk, one) if one else None

    def pursuit(self, number: int) -> Pursuit | None:
        """The pursuit of that number; None where there is none."""
        return self.pursuits[number - 1] if 1 <= number <= len(self.pursuits) else None

    def may_be_compared(self, one: Memory, other: Memory) -> bool:
        """Whether they are two, near in meaning, and nobody has said that they are to be left alone."""
        pair = frozenset((one.pk, other.pk))
        return len(pair) == 2 and pair in self.pairs and pair not in self.parted

    def note(
        self, kind: Change.Kind, memory: Memory, others: Iterable[Memory], before: dict[str, Any]
    ) -> Change:
        """The row that tells what was done."""
        self.done += 1
        change = Change.objects.create(
            companion_id=self.night.companion_id,
            consolidation=self.night,
            number=self.done,
            kind=kind,
            memory=memory,
            before=before,
        )
        change.others.set(others)
        return change


def parted(companion_id: UUID) -> set[Pair]:
    """The pairs whose merging was undone, and those that were held against each other before."""
    mine = Change.objects.filter(companion_id=companion_id, others__isnull=False)
    undone = mine.filter(kind=Change.Kind.MERGED, undone_at__isnull=False)
    rows = (undone | mine.filter(kind=Change.Kind.CONTRADICTION)).values_list("memory_id", "others")
    return {frozenset((one, other)) for one, other in rows if other}


def sources_of(companion_id: UUID, memories: Sequence[Memory]) -> set[str]:
    """The ids of all messages that they come from."""
    ids = [one.pk for one in memories]
    rows = Memory.sources.through.objects.filter(memory__companion_id=companion_id, memory__in=ids)
    return {str(pk) for pk in rows.values_list("message_id", flat=True)}


def link(memory: Memory, message_ids: Iterable[str]) -> None:
    """Let the memory come from these messages too."""
    Source = Memory.sources.through
    rows = [Source(memory_id=memory.pk, message_id=UUID(pk)) for pk in message_ids]
    Source.objects.bulk_create(rows, ignore_conflicts=True)
