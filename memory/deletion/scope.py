"""What is deleted, and whether a text tells of it: by the words that stand nowhere in what is left.

A text may tell of it and come from no message of it: of a fact that nobody said, or of a page.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property
from typing import Any, Self
from uuid import UUID

from memory.models import Block, Memory, Slot
from memory.models.core_memory import By
from memory.models.memory import from_messages
from memory.recall.candidates import PackedIndex, hash_term
from memory.recall.traits import terms

NOT_RESTATED = (Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.INSIGHT)

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


@dataclass(frozen=True, slots=True)
class Restatements:
    """The unique words of what goes: of `facts`, and of `pages` of documents that were given at `given_at`."""

    scope: DeletionScope
    facts: frozenset[str] = frozenset()
    pages: frozenset[str] = frozenset()
    given_at: datetime | None = None

    def stand_in_row(self, row: Slot | Block, text: str, left: Collection[str]) -> bool:
        """Return whether this text of the row tells one that no text left behind the row tells.

        A page is told by what the companion wrote since it was given.
        """
        is_read = self.given_at and row.by == By.COMPANION and row.changed_at >= self.given_at
        words = self.facts | self.pages if is_read else self.facts
        return bool((words & self.scope.read(text)).difference(*map(self.scope.read, left)))

    def stand_in(self, text: str) -> bool:
        """Return whether the text tells one."""
        return not (self.facts | self.pages).isdisjoint(self.scope.read(text))


def find_restatements(scope: DeletionScope) -> Restatements:
    """Return what is to be looked for in core memory; nothing where only what was said is deleted."""
    mine = (
        Memory.everywhere.of(scope.companion_id).filter(pk__in=scope.memories).exclude(kind__in=NOT_RESTATED)
    )
    deleted = list(mine.select_related("page__document").defer("entry"))
    pages = [memory.page for memory in deleted if memory.kind == Memory.Kind.GIST and hasattr(memory, "page")]
    facts = scope.words_of(memory.text for memory in deleted if memory.kind != Memory.Kind.GIST)
    paged = scope.words_of(text for page in pages for text in (page.gist, page.text))
    if not facts and not paged:
        return Restatements(scope)
    unique = _keep_unique(scope, facts | paged)
    given_at = min((page.document.given_at for page in pages), default=None)
    return Restatements(scope, facts & unique, paged & unique, given_at)


def find_unique_words(scope: DeletionScope, *, on_any_branch: bool = False) -> frozenset[str]:
    """Return the words of what goes that nothing which is left tells, on the chosen branch or on any."""
    return _keep_unique(scope, scope.words, on_any_branch=on_any_branch)


def _keep_unique(
    scope: DeletionScope, words: Collection[str], *, on_any_branch: bool = False
) -> frozenset[str]:
    """Return those words that no memory which is left tells. What the companion itself said is no witness: it may have
    said it of what goes.
    """
    awake = Memory.objects.of(scope.companion_id)
    mine = Memory.everywhere.of(scope.companion_id) if on_any_branch else awake
    behind = mine.filter(from_messages(scope.all_messages)).values("pk")
    left = mine.open().exclude(pk__in=scope.memories).exclude(pk__in=behind).exclude(entry=b"")
    packed = left.exclude(speaker=Memory.Speaker.COMPANION).order_by().values_list("entry", flat=True)
    told = set(PackedIndex.unpack(b"".join(map(bytes, packed))).terms.tolist())
    return frozenset(word for word in words if hash_term(word) not in told)
