"""The alternatives to a message: other answers to the same message, and other wordings of the user's message."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from companions.models import Message


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The ids of all messages in the same place, oldest first, and the position of the message among them, from 1."""

    ids: Sequence[UUID]
    place: int

    @property
    def count(self) -> int:
        return len(self.ids)

    @property
    def before(self) -> UUID | None:
        return self.ids[self.place - 2] if self.place > 1 else None

    @property
    def after(self) -> UUID | None:
        return self.ids[self.place] if self.place < self.count else None


def load_alternatives(messages: Sequence[Message]) -> dict[UUID, Alternatives]:
    """Return the alternatives by message id, for those of the conversation's `messages` that have any: one query."""
    if not messages:
        return {}
    siblings = Q(parent__in={message.parent_id for message in messages if message.parent_id})
    if any(message.parent_id is None for message in messages):
        siblings |= Q(parent=None)
    mine = Message.everywhere.filter(siblings, conversation=messages[0].conversation_id, waking=None)
    said: dict[tuple[UUID | None, str], list[UUID]] = {}
    for pk, parent_id, role in mine.order_by("said_at", "id").values_list("pk", "parent", "role"):
        said.setdefault((parent_id, role), []).append(pk)
    found = {}
    for message in messages:
        ids = said.get((message.parent_id, message.role), [])
        if len(ids) > 1 and message.pk in ids:
            found[message.pk] = Alternatives(ids, ids.index(message.pk) + 1)
    return found
