"""The figures of each book, printed."""

from django.conf import settings
from django.utils import timezone

from accounts.opening import open_account
from bench.books.asking import CONTEXTS, Asked, Figures, read
from bench.books.writing import Book, write
from companions.making import create
from memory.documents.looking_up import MOST_PAGES
from memory.documents.paging import words
from providers.rehearsal.running import RehearsalServer


def report(language: str, scenes: int, seed: int) -> None:
    """Make the book, read it, and print what came of it."""
    now, book = timezone.now(), write(language, scenes, seed)
    with RehearsalServer() as server:
        settings.CHAT = {"base_url": server.url, "api_key": "", "model": "rehearsal", "is_rehearsal": True}
        user = open_account(f"{language.lower()}@example.org", "correct horse battery", name="Reader")
        companion = create(user, name="Mira", persona="", greeting="", tint=40, now=now)
        figures = read(companion, book, now)
    _print(book, figures)


def _print(book: Book, figures: Figures) -> None:
    seconds = ", ".join(f"{name} {value:.1f} s" for name, value in figures.seconds.items())
    print(f"\n{book.language}: {words(book.text):,.0f} words, {len(book.text):,} characters")
    print(f"{figures.pages} pages with gists, {figures.calls} calls; {seconds}")
    _questions("Asked in other words (written before any search)", figures.in_other_words)
    _questions("Asked by names and key words (written afterwards)", figures.asked)
    _questions(
        "Asked as a reader asks (written without sight of the search or of the other questions)",
        figures.as_a_reader,
    )


def _questions(how: str, asked: list[Asked]) -> None:
    found = sum(one.is_looked_up for one in asked)
    print(f"{how}: {found} of {len(asked)} pages are among the {MOST_PAGES} looked up")
    for context in CONTEXTS:
        shown = [one for one in asked if context in one.shown]
        print(
            f"  {len(shown)} of {len(asked)} gists are shown for the question in a context of {context:,} tokens;"
            f" {sum(one.is_in_gist for one in shown)} of them tell of it"
        )
    for one in asked:
        place, told = one.rank or "none", "told" if one.is_in_gist else "not told"
        print(f"  rank {place:>4}  page {one.page:>3}, {told} in its gist: {one.question}")
