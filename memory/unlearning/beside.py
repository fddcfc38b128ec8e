"""What was learnt from the same message as a memory that goes, and tells again what it told."""

from uuid import UUID

from memory.models import Memory
from memory.terms import terms
from memory.unlearning.gone import Gone
from memory.unlearning.retold import retold


def beside(gone: Gone, learnt: list[Memory]) -> list[Memory]:
    """Those of the learnt ones that hold a word of a memory that goes from their own message, and nothing else tells."""
    if not learnt:
        return []
    words = _words(gone, retold(gone).facts)
    return [one for one in learnt if _told_again(one, words).intersection(terms(one.text))]


def _words(gone: Gone, told: frozenset[str]) -> dict[UUID, set[str]]:
    """By each message behind what goes, which of these words was told of it."""
    going = Memory.objects.of(gone.companion_id).filter(pk__in=gone.memories, sources__in=gone.sources)
    words: dict[UUID, set[str]] = {id: set() for id in gone.sources}
    for message_id, text in going.values_list("sources", "text"):
        words[message_id] |= told.intersection(terms(text))
    return words


def _told_again(memory: Memory, words: dict[UUID, set[str]]) -> set[str]:
    """The words that were told of the messages behind the memory, but by none of them that is left."""
    sources = list(memory.sources.all())
    told = {word for one in sources for word in words.get(one.pk, ())}
    return told.difference(term for one in sources if one.pk not in words for term in terms(one.text))
