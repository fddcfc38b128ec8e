"""From which messages comes what a tool stores: deletion reaches it through them."""

from collections.abc import Collection
from uuid import UUID

from companions.models import Message
from companions.tools.acting import Acting
from memory.models import Memory
from memory.terms import terms


def sources(acting: Acting, text: str) -> list[UUID]:
    """The messages that are acted upon, and the fewest others shown that hold the words which the text has besides."""
    shown = {message.pk: set(terms(message.text)) for message in acting.history}
    shown |= {
        one.memory.message_id: set(terms(one.memory.text)) for one in acting.found if one.memory.message_id
    }
    shown |= _behind_learnt(acting)
    shown |= _behind_all_else(acting, shown.keys())
    ids = [message.pk for message in acting.causes]
    missing = set(terms(text)).difference(*(terms(message.text) for message in acting.causes))
    for id in sorted(shown, key=lambda id: -len(missing & shown[id])):
        if id not in ids and missing & shown[id]:
            ids.append(id)
            missing -= shown[id]
    return ids


def _behind_all_else(acting: Acting, known: Collection[UUID]) -> dict[UUID, set[str]]:
    """The messages behind what is always in mind, and behind the inner state, each with its words."""
    mine = Message.objects.filter(companion=acting.companion.pk, pk__in=acting.shown, is_hidden=False)
    return {id: set(terms(text)) for id, text in mine.exclude(pk__in=known).values_list("pk", "text")}


def _behind_learnt(acting: Acting) -> dict[UUID, set[str]]:
    """The messages behind the learnt memories that were shown, each with the words of those."""
    learnt = {one.memory.pk: set(terms(one.memory.text)) for one in acting.found if not one.memory.message_id}
    behind: dict[UUID, set[str]] = {}
    for memory_id, message_id in (
        Memory.sources.through.objects.filter(memory__companion=acting.companion.pk, memory__in=learnt)
        .exclude(
            message__in=[
                *acting.given,
                *(one.memory.message_id for one in acting.found if one.memory.message_id),
            ]
        )
        .values_list("memory", "message")
    ):
        behind[message_id] = behind.get(message_id, set()) | learnt[memory_id]
    return behind
