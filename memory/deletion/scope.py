"""What is deleted, and whether a text tells of it: by the words that stand nowhere in what is left."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property
from typing import Any, Self
from uuid import UUID

from memory.recall.traits import terms

Reader = Callable[[str], frozenset[str]]


def cached_reader(read: Callable[[str], Iterable[str]] = terms) -> Reader:
    """Return what gives the terms of a text, each text read once: the same messages are behind much."""
    return cache(lambda text: frozenset(read(text)))


@dataclass(frozen=True, kw_only=True)
class DeletionScope:
    """Messages and memories of one companion that are deleted, by their ids, and what they said (`texts`).

    What was drawn from one of the `messages` goes as far as it comes from it. `sources` are the messages behind memories
    that go: of what was drawn from those, only what shares a word with the `texts`. Those of them that are `corrected`
    stay with other words, the `kept`, which do not go. `names` are what the two are called.
    """

    companion_id: UUID
    now: datetime
    names: Collection[str] = ()
    messages: frozenset[UUID] = frozenset()
    sources: frozenset[UUID] = frozenset()
    memories: frozenset[UUID] = frozenset()
    corrected: frozenset[UUID] = frozenset()
    kept: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    read: Reader = field(default_factory=cached_reader, repr=False, compare=False)

    @cached_property
    def words(self) -> frozenset[str]:
        """The terms of what goes, but those that are kept, and the names of the two who talk."""
        return self.words_of(self.texts).difference(self.words_of(self.kept))

    @property
    def all_messages(self) -> frozenset[UUID]:
        return self.messages | self.sources

    def words_of(self, texts: Iterable[str]) -> frozenset[str]:
        """Return the terms of the texts without the names of the two who talk."""
        return frozenset[str]().union(*map(self.read, texts)).difference(*map(self.read, self.names))

    def with_memories(self, memories: Mapping[UUID, str]) -> Self:
        """Return the scope with these memories in it, each with its text."""
        ids = self.memories | memories.keys()
        return replace(self, memories=ids, texts=(*self.texts, *memories.values()))

    def lost_words(self, left: Iterable[str]) -> frozenset[str]:
        """Return the words of what goes that stand in none of the texts that are left."""
        return self.words.difference(*map(self.read, left))

    def tells(self, text: str, left: Iterable[str] = ()) -> bool:
        """Return whether a word of the text stands in what goes, and in nothing of what is left."""
        return not self.lost_words(left).isdisjoint(self.read(text))

    def is_behind(self, sentence: Mapping[str, Any]) -> bool:
        """Return whether the sentence ({"text", "sources": ids of messages}) comes from what goes."""
        sources = {UUID(str(id)) for id in sentence["sources"]}
        if sources & self.messages:
            return True
        return bool(sources & self.sources) and self.tells(sentence["text"])
