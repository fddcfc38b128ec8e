"""The bench of long books, in small: a book is the same for the same seed, and its questions find their page."""

import pytest
from django.utils import timezone

from bench.books.asking import read
from bench.books.writing import LANGUAGES, write
from companions.models import Companion
from memory.documents.paging import pages, words


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_book_is_made_by_chance_and_the_same_again(language: str) -> None:
    book = write(language, 24)
    assert book == write(language, 24)
    assert book.text != write(language, 24, seed=8).text
    assert all(book.text.count(one.text) == 1 for one in book.happenings)
    assert len(book.happenings) == 10


def test_the_books_of_the_bench_are_as_long_as_it_says() -> None:
    from bench.books.__main__ import SCENES

    assert words(write("English", SCENES["English"]).text) > 60_000
    assert words(write("Chinese", SCENES["Chinese"]).text) > 60_000


@pytest.mark.django_db
@pytest.mark.usefixtures("rehearsal")
@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_about_a_book_find_their_page(mira: Companion, language: str) -> None:
    book = write(language, 24)
    figures = read(mira, book, timezone.now())
    assert figures.pages == len(pages(book.text)) > 20
    assert figures.calls < figures.pages / 5
    assert sum(one.is_looked_up for one in figures.asked) >= 9
    assert sum(one.is_looked_up for one in figures.in_other_words) >= 3
