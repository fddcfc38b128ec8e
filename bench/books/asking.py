"""A book given to a companion, gisted, embedded and asked about: on which rank each question's page is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter

from accounts.models import ModelCall
from bench.books.writing import Book, Happening
from companions.documents import give_document
from companions.locking import lock
from companions.models import Companion
from companions.tools.bounds import most_given
from companions.tools.survey import survey
from memory.documents.gists import write_gists
from memory.documents.looking_up import LookedUp, Question, look_up, named, ranked
from memory.embedding import embed_cue, embed_waiting
from memory.models import Document, Page

CONTEXTS = (8_192, 32_768, 131_072)  # tokens: the default, and larger ones


@dataclass(frozen=True)
class Asked:
    """A question, the number of the page that answers it, and its rank (None: beyond the hundredth).

    `shown` are those of the contexts in which a model is shown the page's gist, and can ask for the page.
    """

    question: str
    page: int
    rank: int | None
    is_looked_up: bool
    shown: list[int]
    is_in_gist: bool


@dataclass
class Figures:
    """What a book came to."""

    pages: int = 0
    calls: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    in_other_words: list[Asked] = field(default_factory=list)
    as_a_reader: list[Asked] = field(default_factory=list)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        began = perf_counter()
        yield
        self.seconds[name] = perf_counter() - began


def read(companion: Companion, book: Book, now: datetime) -> Figures:
    """The figures of one book, asked for as the companion's person would ask."""
    figures = Figures()
    with figures.timed("paging"):
        document = give_document(companion, f"A book in {book.language}", book.text, now)
    with figures.timed("gists"):
        while write_gists(document.pk, now, lock):
            pass
    with figures.timed("embedding"):
        embed_waiting(companion.pk)
    figures.pages = document.pages.exclude(gist="").count()
    figures.calls = ModelCall.objects.filter(companion=companion, purpose=ModelCall.Purpose.GISTS).count()
    with figures.timed("questions"):
        for one in book.happenings:
            figures.asked.append(_asked(companion, document, one, one.question, now))
            figures.in_other_words.append(_asked(companion, document, one, one.in_other_words, now))
            figures.as_a_reader.append(_asked(companion, document, one, one.as_a_reader, now))
    return figures


def _asked(companion: Companion, document: Document, one: Happening, text: str, now: datetime) -> Asked:
    wanted = _page(document, one)
    question = Question(
        text=text,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(text, names=companion.names),
        names=companion.names,
    )
    every = named(companion.pk, ranked(companion.pk, question))
    pages, six = [each.page for each in every], [each.page for each in look_up(companion.pk, question)]
    shown = [context for context in CONTEXTS if _is_shown(wanted, every, companion, context)]
    rank = pages.index(wanted) + 1 if wanted in pages else None
    return Asked(text, wanted.number, rank, wanted in six, shown, one.text[:20] in wanted.gist)


def _is_shown(wanted: Page, every: list[LookedUp], companion: Companion, context: int) -> bool:
    """Whether its gist is among those that the tool shows for the question, in a context of so many tokens."""
    found = survey(every, companion.user.zone, most_given(context))
    return wanted.number in [one["page"] for one in found.gists]


def _page(document: Document, one: Happening) -> Page:
    """The page on which most of the happening stands: a page may end within it."""
    half = one.text[len(one.text) // 4 : len(one.text) * 3 // 4]
    parts = [half, half[: len(half) // 2], half[len(half) // 2 :]]
    return next(page for part in parts for page in document.pages.filter(text__contains=part))
