"""What goes, and whether a text tells of it: by the words that stand nowhere in what is left."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cached_property
from typing import Any, Self
from uuid import UUID

from memory.terms import terms


@dataclass(frozen=True, kw_only=True)
class Gone:
    """What goes of one companion: messages and memories, by their ids, and what they said (`texts`).

    What was drawn from one of the `messages` goes as far as it comes from it. `sources` are the messages behind memories
    that go: of what was drawn from those, only what shares a word with the `texts`. `names` are what the two are called.
    """

    companion_id: UUID
    now: datetime
    zone: tzinfo
    names: Collection[str] = ()
    messages: frozenset[UUID] = frozenset()
    sources: frozenset[UUID] = frozenset()
    memories: frozenset[UUID] = frozenset()
    texts: tuple[str, ...] = field(default=())

    @cached_property
    def words(self) -> frozenset[str]:
        """The terms of what goes, but the names of the two who talk."""
        names = {term for name in self.names for term in terms(name)}
        return frozenset(term for text in self.texts for term in terms(text)) - names

    @property
    def all_messages(self) -> frozenset[UUID]:
        return self.messages | self.sources

    def and_memories(self, memories: Mapping[UUID, str]) -> Self:
        """The same and these memories, each with its text."""
        return replace(
            self, memories=self.memories | memories.keys(), texts=(*self.texts, *memories.values())
        )

    def tells(self, text: str, left: Iterable[str] = ()) -> bool:
        """Whether a word of the text stands in what goes, and in nothing of what is left."""
        told = self.words.intersection(terms(text))
        return bool(told and told.difference(term for one in left for term in terms(one)))

    def is_behind(self, sentence: Mapping[str, Any]) -> bool:
        """Whether the sentence ({"text", "sources": ids of messages}) comes from what goes."""
        sources = {UUID(str(id)) for id in sentence["sources"]}
        return bool(sources & self.messages) or (
            bool(sources & self.sources) and self.tells(sentence["text"])
        )
