"""From which messages comes what a tool stores: deletion reaches it through them."""

from uuid import UUID

from companions.replies.material import Turn
from memory.terms import terms


def sources(turn: Turn, text: str) -> list[UUID]:
    """The message that is answered, and the fewest others shown that hold the words which the text has besides."""
    shown = {message.pk: set(terms(message.text)) for message in turn.history}
    shown |= {
        one.memory.message_id: set(terms(one.memory.text)) for one in turn.found if one.memory.message_id
    }
    missing, ids = set(terms(text)) - set(terms(turn.message.text)), [turn.message.pk]
    for id in sorted(shown, key=lambda id: -len(missing & shown[id])):
        if missing & shown[id]:
            ids.append(id)
            missing -= shown[id]
    return ids
