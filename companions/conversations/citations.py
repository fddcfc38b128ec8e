"""Sentences that a companion has written, each with the messages that it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from companions.models import Message

MAX_SOURCES = 5


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence, the first of the messages behind it in the order of time, and how many there are."""

    text: str
    said: Sequence[Message]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.said)


def told(companion_id: UUID, sentences: Sequence[Mapping[str, Any]]) -> list[Told]:
    """The sentences with those of their messages that are there: one query."""
    ids = {UUID(source) for sentence in sentences for source in sentence["sources"]}
    mine = Message.objects.filter(companion=companion_id).select_related("session__diary_entry")
    messages = mine.in_bulk(ids) if ids else {}
    return [_told(sentence, messages) for sentence in sentences]


def _told(sentence: Mapping[str, Any], messages: Mapping[UUID, Message]) -> Told:
    ids = dict.fromkeys(UUID(source) for source in sentence["sources"])
    said = sorted(
        (messages[id] for id in ids if id in messages), key=lambda message: (message.said_at, message.pk)
    )
    return Told(sentence["text"], said[:MAX_SOURCES], len(said))
