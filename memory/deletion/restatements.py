"""What tells of a deleted memory and comes from no message of it: of a fact that nobody said, or of a page."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from memory.deletion.scope import DeletionScope
from memory.models import Block, Memory, Slot
from memory.models.always import By
from memory.models.memory import from_messages
from memory.recall.candidates import PackedIndex, hash_term

NOT_RESTATED = (Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.INSIGHT)


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
    mine = Memory.objects.of(scope.companion_id).filter(pk__in=scope.memories).exclude(kind__in=NOT_RESTATED)
    deleted = list(mine.select_related("page__document").defer("entry"))
    pages = [one.page for one in deleted if one.kind == Memory.Kind.GIST and hasattr(one, "page")]
    facts = scope.words_of(memory.text for memory in deleted if memory.kind != Memory.Kind.GIST)
    paged = scope.words_of(text for page in pages for text in (page.gist, page.text))
    if not facts and not paged:
        return Restatements(scope)
    unique = _keep_unique(scope, facts | paged)
    given_at = min((page.document.given_at for page in pages), default=None)
    return Restatements(scope, facts & unique, paged & unique, given_at)


def find_unique_words(scope: DeletionScope) -> frozenset[str]:
    """Return the words of what goes that nothing which is left tells."""
    return _keep_unique(scope, scope.words)


def _keep_unique(scope: DeletionScope, words: Collection[str]) -> frozenset[str]:
    """Return those words that no memory which is left tells. What the companion itself said is no witness: it may have
    said it of what goes.
    """
    mine = Memory.objects.of(scope.companion_id)
    behind = mine.filter(from_messages(scope.all_messages)).values("pk")
    left = mine.open().exclude(pk__in=scope.memories).exclude(pk__in=behind).exclude(entry=b"")
    packed = left.exclude(speaker=Memory.Speaker.COMPANION).order_by().values_list("entry", flat=True)
    told = set(PackedIndex.unpack(b"".join(map(bytes, packed))).terms.tolist())
    return frozenset(word for word in words if hash_term(word) not in told)
