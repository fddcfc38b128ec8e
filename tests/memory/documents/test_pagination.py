"""A long text becomes pages at its natural breaks, whatever its script."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as some

from memory.documents import pagination
from memory.documents.pagination import MAX_WORDS, MIN_WORDS, ONE_PAGE, PART, UNITS, WORD, split_into_pages
from tests.fixtures.properties import examples


def count_words(text: str) -> float:
    """How many words a text has, about."""
    return sum(UNITS[match.lastgroup or "word"] for match in PART.finditer(text)) / WORD


CHARACTERS = "ab cZ.,!?\n\r\t\f#我是。，，”“กา́😀\u200d…—第一章é\u3000"
PIECES = [
    *(
        "word ",
        "a sentence ends. ",
        "我们走了很远，",
        "天黑了。",
        "\n",
        "\n\n",
        "# Heading\n",
        "第三章 雨\n",
        "x" * 90,
    ),
    *("😀", "ภาษา", "Chapter 7\n", " " * 300, "Mr. Grey, who knew; ", "e\u0301" * 30),
]
texts = some.lists(some.sampled_from(PIECES), max_size=60).flatmap(
    lambda some_pieces: some.integers(0, 120).map(lambda times: "".join(some_pieces) * times)
)


@given(some.one_of(texts, some.text(CHARACTERS, max_size=3000)))
@examples(150)
def test_the_joined_pages_are_the_text_and_each_is_of_a_pages_length(text: str) -> None:
    found = split_into_pages(text)
    assert "".join(found) == text
    assert all(count_words(page) <= MAX_WORDS for page in found)
    assert all(count_words(page) >= MIN_WORDS for page in found[:-1])
    assert count_words(text) >= ONE_PAGE or found == [text]


@given(some.text(max_size=400), some.integers(1, 400))
@examples(60)
def test_any_text_at_all_can_be_paged(text: str, times: int) -> None:
    found = split_into_pages(text * times)
    assert "".join(found) == text * times
    assert all(count_words(page) <= MAX_WORDS for page in found)


def test_words_are_counted_in_any_script() -> None:
    assert count_words("Three plain words.") == 3
    assert count_words("我们走了") == pytest.approx(4 * 2 / 3)
    assert count_words("x" * 100) == 5
    assert count_words("") == 0


SENTENCE = "They walked along the river until the lamps were lit. "  # ten words
PARAGRAPH = SENTENCE * 10


def test_a_chapter_begins_a_page() -> None:
    text = f"{PARAGRAPH}\n\n" * 3 + "Chapter 2\n\n" + f"{PARAGRAPH}\n\n" * 6
    assert split_into_pages(text)[1].startswith("Chapter 2")
    assert split_into_pages(text.replace("Chapter 2", "第二章 渡口"))[1].startswith("第二章")
    assert split_into_pages(text.replace("Chapter 2", "## The ferry"))[1].startswith("## The ferry")


def test_pages_end_at_blank_lines_before_paragraphs_and_at_those_before_sentences() -> None:
    blank = split_into_pages((PARAGRAPH.strip() + "\n" + PARAGRAPH.strip() + "\n\n") * 6)
    assert all(page.endswith("\n\n") for page in blank)
    lines = split_into_pages((PARAGRAPH.strip() + "\n") * 12)
    assert all(page.endswith("\n") for page in lines)
    sentences = split_into_pages(PARAGRAPH * 12)
    assert all(page.endswith("lit. ") for page in sentences)


def test_a_line_that_ends_within_a_sentence_is_no_paragraph() -> None:
    hard = split_into_pages((SENTENCE * 3).replace("river ", "river\n") * 40)
    assert all(page.rstrip().endswith("lit.") for page in hard)


def test_a_page_ends_with_a_clause_or_a_word_where_nothing_better_comes() -> None:
    clauses = split_into_pages("they walked on and on, " * 300)
    assert all(page.endswith("on, ") for page in clauses)
    bare = split_into_pages("walking " * 1500)
    assert all(page.endswith("walking ") for page in bare)
    assert split_into_pages("，我们走了很远很远" * 300)[0].endswith("，")


def test_a_name_with_a_title_ends_no_sentence() -> None:
    found = split_into_pages(
        "and then Mr. Grey spoke of it " * 100 + "so. " + "and then Mr. Grey spoke of it " * 100
    )
    assert not any(page.endswith("Mr. ") for page in found)


def test_no_page_but_the_last_is_nearly_empty() -> None:
    for count in range(340, 1300, 7):
        found = split_into_pages("word " * count)
        assert all(count_words(page) >= MIN_WORDS for page in found) or count < MIN_WORDS


@given(texts)
@examples(60)
def test_a_text_is_parted_the_same_however_little_of_it_is_looked_at_at_once(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for size in (3_000, 10**9):
            patch.setattr(pagination, "BLOCK", size)
            found.append(split_into_pages(text * 3))
    assert found[0] == found[1]


def test_a_long_text_takes_little_memory() -> None:
    text = "我们走了很远，天黑了。" * 16_000  # looked at as a whole it takes 34 MB
    tracemalloc.start()
    try:
        assert len(split_into_pages(text)) > 200
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 15_000_000
