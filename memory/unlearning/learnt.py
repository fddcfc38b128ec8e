"""Memories that were learnt from what goes: they go, or stay as what other messages told of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Q

from memory.keeping import entry_of, nudge
from memory.models import Memory, Pursuit
from memory.text import storable
from memory.unlearning.beside import beside
from memory.unlearning.gone import Gone

MIRRORS = (Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.GIST)
Drawn, Source = Memory.drawn_from.through, Memory.sources.through
Quotes = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a memory: its quotes and evidence; `text` where it must be worded anew, None where it cannot be."""

    memory: Memory
    quotes: Quotes
    evidence: int
    text: str | None = ""

    @property
    def stands(self) -> bool:
        """Whether its own words tell nothing of what goes."""
        return self.text == ""


def unlearn(gone: Gone) -> dict[UUID, str]:
    """The texts of the memories that are to be deleted, by their ids; those that stay are left without what goes.

    One that is worded anew is a new one: whoever thinks about the old one meanwhile finds that it is not there.
    """
    going = gone.messages | gone.corrected
    fallen = _with_drawn(gone, learnt_from(gone, going) | drawn_from(gone.memories), {})
    so_far = gone.and_memories(fallen)
    again = _leave(_beside(gone.companion_id, so_far), replace(so_far, messages=gone.all_messages))
    return _with_drawn(gone, drawn_from(again), fallen | again)


def _with_drawn(gone: Gone, condition: Q, fallen: dict[UUID, str]) -> dict[UUID, str]:
    """Those that have fallen, and of what fits the condition, and was drawn from that, what falls with them."""
    seen = {*gone.memories, *fallen}
    while there := touched(gone.companion_id, condition, seen):
        seen |= {one.pk for one in there}
        new = _leave(there, gone.and_memories(fallen))
        fallen, condition = fallen | new, drawn_from(new)
    return fallen


def _leave(there: Sequence[Memory], gone: Gone) -> dict[UUID, str]:
    """Leave them without what goes; the texts of those that are to be deleted, by their ids."""
    left = [left_of(one, gone) for one in there]
    _keep([one for one in left if one.stands], gone)
    _word_anew([one for one in left if one.text], gone)
    return {one.memory.pk: one.memory.text for one in left if not one.stands}


def _beside(companion_id: UUID, gone: Gone) -> list[Memory]:
    """What tells again what goes, and was learnt from the same messages, which stay for the eye."""
    if not gone.sources:
        return []
    return beside(gone, touched(companion_id, learnt_from(gone, gone.sources), gone.memories))


def learnt_from(gone: Gone, messages: Collection[UUID]) -> Q:
    """What was learnt from these messages."""
    mine = Source.objects.filter(message__companion=gone.companion_id, message__in=messages)
    return Q(pk__in=mine.values("memory"))


def drawn_from(memories: Collection[UUID]) -> Q:
    """What was drawn from these memories."""
    return Q(pk__in=Drawn.objects.filter(to_memory__in=list(memories)).values("from_memory"))


def touched(companion_id: UUID, condition: Q, seen: Collection[UUID]) -> list[Memory]:
    """Those of the companion that fit the condition, but the ones seen before."""
    learnt = Memory.objects.of(companion_id).exclude(kind__in=MIRRORS)
    return list(learnt.filter(condition).exclude(pk__in=list(seen)).prefetch_related("sources", "drawn_from"))


def left_of(memory: Memory, gone: Gone) -> Left:
    """What is left of the memory without what goes."""
    messages = {str(one.pk): one for one in memory.sources.all() if one.pk not in gone.messages}
    memories = [one for one in memory.drawn_from.all() if one.pk not in gone.memories]
    quotes = [
        one for one in memory.quotes if str(one["message"]) in messages and _stands(one, messages, gone)
    ]
    lost = {str(one["message"]) for one in memory.quotes} - {str(one["message"]) for one in quotes}
    least = 0 if gone.corrected and len(messages) == len(memory.sources.all()) else 1
    left = Left(memory, quotes, max(1, memory.evidence - max(least, len(lost))))
    told_by = [*(one.text for one in messages.values()), *(one.text for one in memories)]
    if not told_by:
        return Left(memory, quotes, left.evidence, None)
    if not gone.tells(memory.text, told_by):
        return left
    words = [f"{messages[str(one['message'])].author}: “{one['text']}”".lstrip(": ") for one in quotes]
    return Left(memory, quotes, left.evidence, storable("\n".join(dict.fromkeys(words))) or None)


def _stands(quote: dict[str, Any], messages: dict[str, Any], gone: Gone) -> bool:
    """Whether its message says so still."""
    message = messages[str(quote["message"])]
    return message.pk not in gone.corrected or quote["text"] in message.text


def _keep(left: Sequence[Left], gone: Gone) -> None:
    for one in left:
        one.memory.quotes, one.memory.evidence = one.quotes, one.evidence
    memories = [one.memory for one in left]
    Memory.objects.of(gone.companion_id).bulk_update(memories, ["quotes", "evidence"], batch_size=500)
    Source.objects.filter(
        memory__companion=gone.companion_id, memory__in=memories, message__in=gone.messages
    ).delete()


def _word_anew(left: Sequence[Left], gone: Gone) -> None:
    """Keep in place of each what the other messages told of it, in their own words."""
    if not left:
        return
    made = {one.memory.pk: _anew(one, gone) for one in left}
    Memory.objects.bulk_create(made.values(), batch_size=500)
    sources, drawn = [], []
    for one in left:
        new, memory = made[one.memory.pk], one.memory
        sources += [(new, it.pk) for it in memory.sources.all() if it.pk not in gone.messages]
        drawn += [(new, it.pk) for it in memory.drawn_from.all() if it.pk not in gone.memories]
    Source.objects.bulk_create(Source(memory=new, message_id=pk) for new, pk in sources)
    Drawn.objects.bulk_create(Drawn(from_memory=new, to_memory_id=pk) for new, pk in drawn)
    _take_place(made, gone)
    nudge(gone.companion_id)


def _anew(left: Left, gone: Gone) -> Memory:
    new = Memory(
        **{field.attname: getattr(left.memory, field.attname) for field in Memory._meta.concrete_fields}
    )
    new.pk, new.text, new.quotes, new.evidence = uuid4(), left.text or "", left.quotes, left.evidence
    new.call_id = new.edited_at = None
    new.entry = entry_of(new.text, new.speaker, new.happened_at, gone.zone)
    return new


def _take_place(made: dict[UUID, Memory], gone: Gone) -> None:
    """What named the old ones names the new ones: what they replaced, and what is pursued."""
    mine = Memory.objects.of(gone.companion_id)
    replaced = list(mine.filter(replaced_by__in=made))
    for memory in replaced:
        memory.replaced_by = made[memory.replaced_by_id] if memory.replaced_by_id else None
    mine.bulk_update(replaced, ["replaced_by"], batch_size=500)
    own = Pursuit.objects.filter(companion_id=gone.companion_id)
    pursuits = list(own.filter(Q(memory__in=made) | Q(parent__in=made)))
    for pursuit in pursuits:
        pursuit.memory_id = made[pursuit.memory_id].pk if pursuit.memory_id in made else pursuit.memory_id
        pursuit.parent = made.get(pursuit.parent_id, pursuit.parent) if pursuit.parent_id else None
    own.bulk_update(pursuits, ["memory", "parent"], batch_size=500)
