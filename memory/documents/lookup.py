"""Looking up: from a question to the pages and sessions that it needs, found by their gists. No model is asked.

The gist of a page stands for the page, a diary entry for what was said in its session.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from uuid import UUID

from django.db.models import Q

from memory.embedding.spaces import CueVector
from memory.models import DiaryEntry, Document, Memory, Page
from memory.recall.candidates import MemoryFilter
from memory.recall.query import Names
from memory.recall.recall import Found, recall

MAX_PAGES = 6
MAX_GISTS = 100
MAX_SAID = 400  # of one session
MAX_NUMBER = 2**31 - 1  # that fits into the database's column
GISTS = (Memory.Kind.GIST, Memory.Kind.DIARY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that somebody in the time zone `zone` asks at `now`.

    `vector` is the question's, from `embed_cue`; `names` are what "user" and "companion" are called. What is kept from
    models is found only `with_private`, for its owner.
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
    """A gist with its original: a page of a document, or the diary entry of a session with what was said there."""

    memory: Memory
    score: float
    page: Page | None = None
    entry: DiaryEntry | None = None
    said: tuple[Memory, ...] = ()

    @property
    def title(self) -> str:
        """The title of the document, or of the diary entry."""
        return self.page.document.title if self.page else self.entry.title if self.entry else ""


def look_up(companion_id: UUID, question: Question, limit: int = MAX_PAGES) -> list[LookedUp]:
    """Return at most `limit` (0 to 6) originals, best first; at most five SQL queries besides those of the recall."""
    found = load_titles(companion_id, find_gists(companion_id, question, min(limit, MAX_PAGES)))
    said = _load_said(companion_id, [original.entry.session_id for original in found if original.entry])
    read = [
        replace(original, said=tuple(said.get(original.entry.session_id, ()))) if original.entry else original
        for original in found
    ]
    return [original for original in read if original.page or original.said]


def find_gists(companion_id: UUID, question: Question, limit: int = MAX_GISTS) -> list[Found]:
    """Return at most `limit` (0 to 100) gists that may answer the question, best first; SQL queries as in a recall."""
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


def load_titles(companion_id: UUID, found: Sequence[Found]) -> list[LookedUp]:
    """Return the pages and diary entries of these gists, in their order, without what was said; two SQL queries.

    Gists whose page or entry is gone are left out.
    """
    ids = [hit.memory.pk for hit in found]
    pages = Page.objects.filter(companion_id=companion_id, memory__in=ids).select_related("document")
    by_page = {page.memory_id: page for page in pages}
    entries = DiaryEntry.objects.filter(companion_id=companion_id, memory__in=ids)
    by_entry = {entry.memory_id: entry for entry in entries}
    every = [
        LookedUp(hit.memory, hit.score, by_page.get(hit.memory.pk), by_entry.get(hit.memory.pk))
        for hit in found
    ]
    return [original for original in every if original.page or original.entry]


def find_pages(companion_id: UUID, title: str, numbers: Sequence[int]) -> list[Page]:
    """Return the pages with these numbers, in that order and at most six, of the newest document with that title, or if
    there is none of the file of that name.

    Numbers that do not exist and pages that are kept from models are left out. A deleted page is returned without text.
    """
    is_title = Q(title__iexact=title.strip())
    is_file = Q(title__iexact=title.strip().rpartition(".")[0])
    documents = Document.objects.filter(is_title | is_file, companion_id=companion_id).annotate(
        exact=is_title
    )
    newest = documents.order_by("-exact", "-given_at").values("pk")[:1]
    wanted = [number for number in dict.fromkeys(numbers) if 0 < number <= MAX_NUMBER][:MAX_PAGES]
    pages = Page.objects.filter(companion_id=companion_id, document__in=newest, number__in=wanted)
    there = pages.select_related("document", "memory").defer("memory__entry")
    may_come = [page for page in there if not (page.memory and page.memory.is_private)]
    return sorted(may_come, key=lambda page: wanted.index(page.number))


def _load_said(companion_id: UUID, sessions: Sequence[UUID]) -> dict[UUID, list[Memory]]:
    """Return by session what was said in it and models may see, oldest first, at most MAX_SAID each; one SQL query."""
    by_session: dict[UUID, list[Memory]] = defaultdict(list)
    if sessions:
        memories = Memory.objects.of(companion_id).filter(
            kind=Memory.Kind.SAID, message__session__in=sessions, message__is_hidden=False, is_private=False
        )
        for memory in memories.select_related("message").defer("entry").order_by("happened_at", "id"):
            if memory.message and len(by_session[memory.message.session_id]) < MAX_SAID:
                by_session[memory.message.session_id].append(memory)
    return by_session
