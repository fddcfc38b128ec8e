"""Looking up: from a question to the originals behind the gists that it needs, pages and talks. No model is asked.

A page's gist stands for the page, a diary entry for what was said in its session.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from itertools import islice
from uuid import UUID

from memory.among import Among
from memory.cue import Names
from memory.models import DiaryEntry, Document, Memory, Page
from memory.recall import Found, recall
from memory.spaces import CueVector
from memory.stages import Stages
from providers.tokens import estimate

MOST_PAGES = 6
MOST_ONE_BY_ONE = 50
MOST_SAID = 400  # of one session
GISTS = (Memory.Kind.GIST, Memory.Kind.DIARY)
# A page is weighed by what it says: it is nobody's answer to the page before it, and no better for asking nothing.
AS_PAGES = Stages(
    surroundings=False,
    answers=False,
    speaker=False,
    questions=False,
    first_person=False,
    length=False,
    talks=False,
    spread=False,
    policy=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, asked now by somebody in that zone.

    `vector` is the question's from `embed_cue`, `names` are what "user" and "companion" are called. What is kept from
    models comes only `with_private`: for its owner.
    """

    text: str
    now: datetime
    zone: tzinfo
    vector: CueVector | None = None
    names: Names = field(default_factory=dict)
    kinds: Sequence[str] = GISTS
    with_private: bool = False


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A gist with what it stands for: a page of a document, or the diary entry of a session and what was said there."""

    memory: Memory
    score: float
    page: Page | None = None
    entry: DiaryEntry | None = None
    said: tuple[Memory, ...] = ()

    @property
    def title(self) -> str:
        """The document's, or the diary entry's."""
        return self.page.document.title if self.page else self.entry.title if self.entry else ""

    @property
    def tokens(self) -> int:
        """How many tokens its originals have, about."""
        return estimate(self.page.text if self.page else "\n".join(one.text for one in self.said))


def look_up(companion_id: UUID, question: Question, limit: int = MOST_PAGES) -> list[LookedUp]:
    """At most `limit` (0 to 6) originals at once, the best first; five SQL queries at most beside those of the recall."""
    return opened(companion_id, _found(companion_id, question, min(limit, MOST_PAGES)))


def one_by_one(companion_id: UUID, question: Question, most_tokens: int) -> Iterator[LookedUp]:
    """The originals one after the other, the best first, each read when it is asked for, as long as all of them
    together have at most so many tokens. Whoever has enough stops asking.
    """
    left = most_tokens
    for one in _found(companion_id, question, MOST_ONE_BY_ONE):
        for looked_up in opened(companion_id, [one]):
            left -= looked_up.tokens
            if left < 0:
                return
            yield looked_up


def opened(companion_id: UUID, found: Sequence[Found]) -> list[LookedUp]:
    """What these gists stand for, in their order; those whose originals are gone are left out."""
    ids = [one.memory.pk for one in found]
    pages = Page.objects.filter(companion_id=companion_id, memory__in=ids).select_related("document")
    by_page = {page.memory_id: page for page in pages}
    by_entry = {
        entry.memory_id: entry
        for entry in DiaryEntry.objects.filter(companion_id=companion_id, memory__in=ids)
    }
    said = _said(companion_id, [entry.session_id for entry in by_entry.values()])
    every = []
    for one in found:
        page, entry = by_page.get(one.memory.pk), by_entry.get(one.memory.pk)
        there = said.get(entry.session_id, ()) if entry else ()
        if page or there:
            every.append(LookedUp(one.memory, one.score, page, entry, tuple(there)))
    return every


def find_page(companion_id: UUID, title: str, number: int, *, with_private: bool = False) -> Page | None:
    """The page of that number in the newest of the companion's documents of that title; None where there is none.

    What is kept from models comes only `with_private`: for its owner. One that was deleted comes, and holds nothing.
    """
    documents = Document.objects.filter(companion_id=companion_id, title__iexact=title.strip())
    newest = documents.order_by("-given_at").values("pk")[:1]
    named = Page.objects.filter(companion_id=companion_id, document__in=newest, number=number)
    page = named.select_related("document", "memory").defer("memory__entry").first()
    is_private = page is not None and page.memory is not None and page.memory.is_private
    return None if is_private and not with_private else page


def _found(companion_id: UUID, question: Question, limit: int) -> list[Found]:
    return recall(
        companion_id,
        question.text,
        limit,
        now=question.now,
        zone=question.zone,
        vector=question.vector,
        names=question.names,
        among=Among(kinds=question.kinds, with_private=question.with_private),
        stages=AS_PAGES,
    )


def _said(companion_id: UUID, sessions: Sequence[UUID]) -> dict[UUID, list[Memory]]:
    """What was said in these sessions and may be told, in the order of time; one SQL query."""
    if not sessions:
        return {}
    memories = Memory.objects.of(companion_id).filter(
        kind=Memory.Kind.SAID, message__session__in=sessions, message__is_hidden=False, is_private=False
    )
    by_session: dict[UUID, list[Memory]] = {}
    for one in memories.select_related("message").defer("entry").order_by("happened_at", "id"):
        if one.message:
            by_session.setdefault(one.message.session_id, []).append(one)
    return {session: list(islice(said, MOST_SAID)) for session, said in by_session.items()}
