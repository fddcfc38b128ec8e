"""Looking up: from a question to the originals behind the gists that it needs, pages and talks. No model is asked.

A page's gist stands for the page, a diary entry for what was said in its session.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from itertools import islice
from uuid import UUID

from memory.embedding.spaces import CueVector
from memory.models import DiaryEntry, Document, Memory, Page
from memory.recall.candidates import MemoryFilter
from memory.recall.query import Names
from memory.recall.recall import Found, recall

MAX_PAGES = 6
MAX_GISTS = 100
MAX_SAID = 400  # of one session
MAX_NUMBER = 2**31 - 1  # that the database has a column for
GISTS = (Memory.Kind.GIST, Memory.Kind.DIARY)


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


def look_up(companion_id: UUID, question: Question, limit: int = MAX_PAGES) -> list[LookedUp]:
    """At most `limit` (0 to 6) originals at once, the best first; five SQL queries at most beside those of the recall."""
    return opened(companion_id, ranked(companion_id, question, min(limit, MAX_PAGES)))


def ranked(companion_id: UUID, question: Question, limit: int = MAX_GISTS) -> list[Found]:
    """The gists that may answer, at most `limit` (0 to 100), the best first; as many SQL queries as the recall has."""
    return recall(
        companion_id,
        question.text,
        limit,
        now=question.now,
        zone=question.zone,
        vector=question.vector,
        names=question.names,
        filters=MemoryFilter(kinds=question.kinds, with_private=question.with_private),
        by_content=True,
    )


def named(companion_id: UUID, found: Sequence[Found]) -> list[LookedUp]:
    """The pages and diary entries of these gists, in their order, without what was said; those that are gone are left
    out. Two SQL queries.
    """
    ids = [one.memory.pk for one in found]
    pages = Page.objects.filter(companion_id=companion_id, memory__in=ids).select_related("document")
    by_page = {page.memory_id: page for page in pages}
    entries = DiaryEntry.objects.filter(companion_id=companion_id, memory__in=ids)
    by_entry = {entry.memory_id: entry for entry in entries}
    every = [
        LookedUp(one.memory, one.score, by_page.get(one.memory.pk), by_entry.get(one.memory.pk))
        for one in found
    ]
    return [one for one in every if one.page or one.entry]


def opened(companion_id: UUID, found: Sequence[Found]) -> list[LookedUp]:
    """What these gists stand for, in their order; those whose originals are gone are left out."""
    every = named(companion_id, found)
    said = _said(companion_id, [one.entry.session_id for one in every if one.entry])
    read = [
        replace(one, said=tuple(said.get(one.entry.session_id, ()))) if one.entry else one for one in every
    ]
    return [one for one in read if one.page or one.said]


def find_pages(
    companion_id: UUID, title: str, numbers: Sequence[int], *, with_private: bool = False
) -> list[Page]:
    """The pages of these numbers, in their order and at most six, in the newest of the companion's documents of that
    title; numbers that there are not are left out.

    What is kept from models comes only `with_private`: for its owner. One that was deleted comes, and holds nothing.
    """
    documents = Document.objects.filter(companion_id=companion_id, title__iexact=title.strip())
    newest = documents.order_by("-given_at").values("pk")[:1]
    wanted = [one for one in dict.fromkeys(numbers) if 0 < one <= MAX_NUMBER][:MAX_PAGES]
    pages = Page.objects.filter(companion_id=companion_id, document__in=newest, number__in=wanted)
    there = pages.select_related("document", "memory").defer("memory__entry")
    may_come = [one for one in there if with_private or not (one.memory and one.memory.is_private)]
    return sorted(may_come, key=lambda one: wanted.index(one.number))


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
    return {session: list(islice(said, MAX_SAID)) for session, said in by_session.items()}
