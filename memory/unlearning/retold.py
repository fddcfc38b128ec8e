"""What tells of a memory that goes, and comes from no message of it: of a fact that nobody said, of a document's page."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from memory.among import OWNERS
from memory.entries import code
from memory.held import lying
from memory.models import Block, Memory, Slot
from memory.models.always import By
from memory.models.memory import from_messages
from memory.terms import terms
from memory.unlearning.gone import Gone

NOT_RETOLD = (Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.INSIGHT)


@dataclass(frozen=True, slots=True)
class Retold:
    """The words of what goes that nothing tells which is left: of `facts`, and of `pages` that were given at `read_at`.

    What the companion itself said is no witness: it may have said it of what goes.
    """

    facts: frozenset[str] = frozenset()
    pages: frozenset[str] = frozenset()
    read_at: datetime | None = None

    def stands_in(self, row: Slot | Block, text: str, left: Collection[str] = ()) -> bool:
        """Whether the text of the row tells it, and none of the texts left behind that row.

        A page is told by what the companion wrote since it was given.
        """
        is_read = self.read_at and row.by == By.COMPANION and row.changed_at >= self.read_at
        return self.is_told(text, left, self.facts | self.pages if is_read else self.facts)

    def is_told(self, text: str, left: Collection[str] = (), words: frozenset[str] | None = None) -> bool:
        """Whether one of the words, else of facts and pages, stands in the text and in none of those left."""
        told = (self.facts | self.pages if words is None else words).intersection(terms(text))
        return bool(told and told.difference(term for one in left for term in terms(one)))


def retold(gone: Gone) -> Retold:
    """What is looked for in what is always in mind; nothing where only what was said goes."""
    mine = Memory.objects.of(gone.companion_id).filter(pk__in=gone.memories).exclude(kind__in=NOT_RETOLD)
    going = list(mine.select_related("page__document").defer("entry"))
    read = [one.page for one in going if one.kind == Memory.Kind.GIST and hasattr(one, "page")]
    facts = _words([one.text for one in going if one.kind != Memory.Kind.GIST], gone)
    pages = _words([text for one in read for text in (one.gist, one.text)], gone)
    if not facts and not pages:
        return Retold()
    known = _known(gone)
    return Retold(
        frozenset(one for one in facts if code(one) not in known),
        frozenset(one for one in pages if code(one) not in known),
        min((one.document.given_at for one in read), default=None),
    )


def only_told(gone: Gone) -> frozenset[str]:
    """The words of what goes that nothing tells which is left but what the companion itself said."""
    known = _known(gone)
    return frozenset(one for one in gone.words if code(one) not in known)


def _words(texts: Collection[str], gone: Gone) -> set[str]:
    return {term for one in texts for term in terms(one)} - {
        term for one in gone.names for term in terms(one)
    }


def _known(gone: Gone) -> set[int]:
    """The codes of the terms of all that is left but what the companion said."""
    mine = Memory.objects.of(gone.companion_id)
    own = mine.filter(speaker=Memory.Speaker.COMPANION).values_list("pk", flat=True)
    behind = mine.filter(from_messages(gone.all_messages)).values_list("pk", flat=True)
    left = lying(gone.companion_id, OWNERS).without({*gone.memories, *own, *behind})
    return set(left.entries.codes.tolist())
