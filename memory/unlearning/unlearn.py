from dataclasses import dataclass
from uuid import UUID

from memory.unlearning import always, diary, learnt, sentences
from memory.unlearning.gone import Gone


@dataclass(frozen=True, slots=True)
class Unlearnt:
    """The ids of the memories that are to be deleted with what goes, and of those that say less than before."""

    deleted: frozenset[UUID]
    changed: frozenset[UUID]


def unlearn(gone: Gone) -> Unlearnt:
    """What was drawn from what goes, each left without it, or named to be deleted.

    The number of queries does not depend on how much goes, but on how many diary entries and how far what was drawn from
    it was drawn from again. Call it in the transaction that deletes, before that, with the companion held.
    """
    fallen = learnt.unlearn(gone)
    gone = gone.and_memories(fallen)
    always.unlearn(gone)
    sentences.take_out(gone)
    deleted, changed = diary.unlearn(gone)
    return Unlearnt(frozenset(fallen) | deleted, frozenset(changed))
