"""Keeping from models what was drawn from what is made private: memories become private too, sentences are taken out."""

from uuid import UUID

from memory.models import Memory
from memory.unlearning import always, diary, sentences
from memory.unlearning.gone import Gone
from memory.unlearning.learnt import drawn_from, learnt_from, left_of, touched


def conceal(gone: Gone) -> set[UUID]:
    """The ids of the memories that are private from now on: those of `gone`, and what was drawn from them.

    What other messages told as well, without a word of it, stays as it was; so does what was learnt from its `sources`,
    unless a word of it stands there that their other messages do not know. Slots, lines of blocks, and sentences that
    were written from it go, for they stand in every prompt; a diary entry that has nothing else stays for the eye.
    """
    hidden: dict[UUID, str] = {}
    seen, condition = set(gone.memories), learnt_from(gone, gone.all_messages) | drawn_from(gone.memories)
    while there := touched(gone.companion_id, condition, seen):
        seen |= {one.pk for one in there}
        so_far = gone.and_memories(hidden)
        new = {one.pk: one.text for one in there if not _stays(one, so_far)}
        hidden, condition = hidden | new, drawn_from(new)
    gone = gone.and_memories(hidden)
    always.unlearn(gone)
    sentences.take_out(gone)
    private = gone.memories | diary.conceal(gone)
    Memory.objects.of(gone.companion_id).filter(pk__in=private).update(is_private=True)
    return set(private)


def _stays(memory: Memory, gone: Gone) -> bool:
    """Whether nothing of it was told by what is made private alone."""
    if not left_of(memory, gone).stands:
        return False
    others = [one.text for one in memory.sources.all() if one.pk not in gone.all_messages]
    return len(others) == len(memory.sources.all()) or not gone.tells(memory.text, others)
