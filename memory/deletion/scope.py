"""The scope of a deletion, and whether a text tells of it: by words of the scope that nothing which is left has.

A text may tell of the scope without coming from one of its messages: e.g. of a fact that nobody said, or of a page.
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
    """Return a function that gives the terms of a text, cached: the same messages are behind many things."""
    return cache(lambda text: frozenset(read(text)))


@dataclass(frozen=True, kw_only=True)
class DeletionScope:
    """The messages and memories of one companion that are deleted, by their ids, and what they said (`texts`).

    What was drawn from one of the `messages` is deleted as far as it comes from that. `sources` are the messages behind
    deleted memories: what was drawn from those is deleted only if it shares a word with the `texts`. The sources that
    are `corrected` stay with other words; the texts in `kept` do not count as deleted. `names` are those of the two who
    talk.
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
        """The terms of the `texts`, without those of the `kept` texts and of the `names`."""
        return self.words_of(self.texts).difference(self.words_of(self.kept))

    @property
    def all_messages(self) -> frozenset[UUID]:
        return self.messages | self.sources

    def words_of(self, texts: Iterable[str]) -> frozenset[str]:
        """Return the terms of the texts, without those of the `names`."""
        return frozenset[str]().union(*map(self.read, texts)).difference(*map(self.read, self.names))

    def with_memories(self, memories: Mapping[UUID, str]) -> Self:
        """Return the scope extended by these memories (texts by ids)."""
        ids = self.memories | memories.keys()
        return replace(self, memories=ids, texts=(*self.texts, *memories.values()))

    def lost_words(self, left: Iterable[str]) -> frozenset[str]:
        """Return the words of the scope that none of the texts that are `left` has."""
        return self.words.difference(*map(self.read, left))

    def tells(self, text: str, left: Iterable[str] = ()) -> bool:
        """Return whether the text has a word of the scope that none of the texts that are `left` has."""
        return not self.lost_words(left).isdisjoint(self.read(text))

    def is_behind(self, sentence: Mapping[str, Any]) -> bool:
        """Return whether the sentence ({"text", "sources": ids of messages}) comes from the scope."""
        sources = {UUID(str(id)) for id in sentence["sources"]}
        if sources & self.messages:
            return True
        return bool(sources & self.sources) and self.tells(sentence["text"])


@dataclass(frozen=True, slots=True)
class Restatements:
    """The words that only the scope has: of its `facts`, and of its `pages`, from documents given since `given_at`."""

    scope: DeletionScope
    facts: frozenset[str] = frozenset()
    pages: frozenset[str] = frozenset()
    given_at: datetime | None = None

    def stand_in_row(self, row: Slot | Block, text: str, left: Collection[str]) -> bool:
        """Return whether this text of the slot or block has one of the words, and no text `left` behind the row has it.

        The words of pages count only if the companion wrote the row after they were given.
        """
        is_read = self.given_at and row.by == By.COMPANION and row.changed_at >= self.given_at
        words = self.facts | self.pages if is_read else self.facts
        return bool((words & self.scope.read(text)).difference(*map(self.scope.read, left)))

    def stand_in(self, text: str) -> bool:
        """Return whether the text has one of the words."""
        return not (self.facts | self.pages).isdisjoint(self.scope.read(text))


def find_restatements(scope: DeletionScope) -> Restatements:
    """Return the words to look for in core memory; none if the scope holds neither facts nor pages."""
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
    """Return the words of the scope that no memory which is left has, on the chosen branch or on any branch."""
    return _keep_unique(scope, scope.words, on_any_branch=on_any_branch)


def _keep_unique(
    scope: DeletionScope, words: Collection[str], *, on_any_branch: bool = False
) -> frozenset[str]:
    """Return those of the words that no memory which is left has. What the companion itself said does not count: it may
    have said that because of the scope.
    """
    awake = Memory.objects.of(scope.companion_id)
    mine = Memory.everywhere.of(scope.companion_id) if on_any_branch else awake
    behind = mine.filter(from_messages(scope.all_messages)).values("pk")
    left = mine.open().exclude(pk__in=scope.memories).exclude(pk__in=behind).exclude(entry=b"")
    packed = left.exclude(speaker=Memory.Speaker.COMPANION).order_by().values_list("entry", flat=True)
    told = set(PackedIndex.unpack(b"".join(map(bytes, packed))).terms.tolist())
    return frozenset(word for word in words if hash_term(word) not in told)
