"""What goes, and whether a text tells of it: by the words that stand nowhere in what is left."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cache, cached_property
from typing import Any, Self
from uuid import UUID

from memory.terms import terms

Reader = Callable[[str], frozenset[str]]


def reader(of: Callable[[str], Iterable[str]] = terms) -> Reader:
    """What gives the terms of a text, each text read once: the same messages are behind much."""

    @cache
    def read(text: str) -> frozenset[str]:
        return frozenset(of(text))

    return read


@dataclass(frozen=True, kw_only=True)
class Gone:
    """What goes of one companion: messages and memories, by their ids, and what they said (`texts`).

    What was drawn from one of the `messages` goes as far as it comes from it. `sources` are the messages behind memories
    that go: of what was drawn from those, only what shares a word with the `texts`. Those of them that are `corrected`
    stay, with other words: what they say from now on is among the `kept`, whose words do not go. `names` are what the
    two are called. `read` gives the terms of a text.
    """

    companion_id: UUID
    now: datetime
    zone: tzinfo
    names: Collection[str] = ()
    messages: frozenset[UUID] = frozenset()
    sources: frozenset[UUID] = frozenset()
    memories: frozenset[UUID] = frozenset()
    corrected: frozenset[UUID] = frozenset()
    kept: tuple[str, ...] = ()
    texts: tuple[str, ...] = field(default=())
    read: Reader = field(default_factory=reader, repr=False, compare=False)

    @cached_property
    def words(self) -> frozenset[str]:
        """The terms of what goes, but those that are kept, and the names of the two who talk."""
        stay = map(self.read, (*self.names, *self.kept))
        return frozenset().union(*map(self.read, self.texts)).difference(*stay)

    @property
    def all_messages(self) -> frozenset[UUID]:
        return self.messages | self.sources

    def and_memories(self, memories: Mapping[UUID, str]) -> Self:
        """The same and these memories, each with its text."""
        return replace(
            self, memories=self.memories | memories.keys(), texts=(*self.texts, *memories.values())
        )

    def only_here(self, left: Iterable[str]) -> frozenset[str]:
        """The words of what goes that stand in nothing of what is left."""
        return self.words.difference(*map(self.read, left))

    def tells(self, text: str, left: Iterable[str] = ()) -> bool:
        """Whether a word of the text stands in what goes, and in nothing of what is left."""
        return not self.only_here(left).isdisjoint(self.read(text))

    def is_behind(self, sentence: Mapping[str, Any]) -> bool:
        """Whether the sentence ({"text", "sources": ids of messages}) comes from what goes."""
        sources = {UUID(str(id)) for id in sentence["sources"]}
        return bool(sources & self.messages) or (
            bool(sources & self.sources) and self.tells(sentence["text"])
        )
