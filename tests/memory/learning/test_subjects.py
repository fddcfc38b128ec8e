"""What two texts must share to be about the same, and what only repeats what was given."""

from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.rules.evidence import Supported, find_support, is_echo
from memory.learning.rules.subjects import denies, is_own, is_same_subject, tells_the_same
from memory.learning.talk import Line, Talk
from tests.memory.conftest import DAY
from tests.memory.learning.conftest import NAMES, learnt
from text.strings import squeeze

CALLED = ["Alice", "Mira", "小爱"]


@pytest.mark.parametrize(
    ("known", "new", "is_same"),
    [
        ("Alice's favourite drink is tea.", "Alice drinks no tea any more.", True),
        ("Alice lives in Bonn.", "Alice moved to Berlin.", True),
        ("Alice works as a nurse.", "Alice works for a bank now.", True),
        ("Alice is engaged to Rui.", "Alice is single again.", True),
        ("小爱住在北京。", "小爱搬到了上海。", True),
        ("小爱对核桃过敏。", "小爱不再对核桃过敏了。", True),
        ("Alice lives in Bonn.", "Alice's sister moved to Berlin.", False),
        ("Alice's sister is called Ida.", "Alice's brother is called Ida.", False),
        ("Alice likes tea.", "Alice likes trains.", False),
        ("Alice has three cats.", "Alice has three jobs.", False),
        ("Alice wants to learn Portuguese.", "Alice wants to sell her car.", False),
        ("小爱喜欢喝茶。", "小爱喜欢爬山。", False),
        ("小爱的姐姐六月结婚。", "小爱的表姐六月生孩子。", False),
    ],
)
def test_what_is_about_the_same(known: str, new: str, is_same: bool) -> None:
    assert is_same_subject(new, [], known, [], CALLED, DAY) is is_same


@pytest.mark.parametrize(
    ("text", "companion", "is_of_companion"),
    [
        ("Sam likes the sea.", "Sam", True),
        ("小雨喜欢海。", "小雨", True),
        ("Samantha likes the sea.", "Sam", False),
    ],
)
def test_a_name_that_begins_with_the_companions_is_anothers(
    text: str, companion: str, is_of_companion: bool
) -> None:
    assert is_own(text, companion) is is_of_companion


def test_quotes_tell_the_subject_too() -> None:
    quotes = ["I've gone off tea, it's coffee now"]
    assert not is_same_subject(
        "Alice prefers coffee.", [], "Alice's favourite drink is tea.", [], CALLED, DAY
    )
    assert is_same_subject(
        "Alice prefers coffee.", quotes, "Alice's favourite drink is tea.", [], CALLED, DAY
    )


@pytest.mark.parametrize(
    ("text", "is_denial"),
    [
        ("I don't smoke any more.", True),
        ("That was a joke, I was only kidding.", True),
        ("The trip is cancelled.", True),
        ("我说错了，是星期五。", True),
        ("我戒烟了。", True),
        ("I smoke twenty a day.", False),
        ("我每天喝茶。", False),
    ],
)
def test_what_takes_something_back(text: str, is_denial: bool) -> None:
    assert denies(text, DAY) is is_denial


def line(text: str, speaker: str, *given: str) -> Line:
    return Line(UUID(int=1), speaker, NAMES[speaker], text, DAY, given)


@pytest.mark.parametrize(
    ("said", "given", "is_one"),
    [
        ("You told me that you love jasmine tea.", "Alice loves jasmine tea.", True),
        ("Alice loves jasmine tea.", "Alice loves jasmine tea.", True),
        ("我记得你喜欢茉莉花茶。", "小爱喜欢茉莉花茶。", True),
        ("I remember that you told me: “我对核桃过敏。”", "Alice said: “我对核桃过敏。”", True),
        ("I remember that you told me: “I am listening.", "I am listening. Go on, tell me more?", True),
        ("Go on, tell me more?”.", "I am listening. Go on, tell me more?", True),
        (
            "”.” I remember that I told you on 4 October: “I remember that you told me: “What of Tom and his cello?”",
            "I remember that you told me: “What of Tom and his cello?”.",
            True,
        ),
        (
            "我记得,11月3日我对你说过:“我记得,7月5日你说:“我对核桃过敏。”",
            "我记得,7月5日你说:“我对核桃过敏。”",
            True,
        ),
        (
            "You told me: “I love jasmine tea”, and I will bring a kite to Berlin.",
            "I love jasmine tea.",
            False,
        ),
        ("I still recall that.", "Alice loves jasmine tea.", False),
        ("You don't love jasmine tea.", "Alice loves jasmine tea.", False),
        ("I promise to bring jasmine to your birthday party in Berlin.", "Alice loves jasmine tea.", False),
        ("You had 3 cups of jasmine tea.", "Alice loves jasmine tea.", False),
    ],
)
def test_what_repeats_what_was_given_is_an_echo(said: str, given: str, is_one: bool) -> None:
    assert is_echo(line(said, "companion", given), said, said, CALLED) is is_one
    assert not is_echo(line(said, "user", given), said, said, CALLED)
    assert not is_echo(line(said, "companion"), said, said, CALLED)


@pytest.mark.parametrize(
    ("new", "days_later", "known", "is_same"),
    [
        ("Alice sees the dentist tomorrow", 1, "Alice sees the dentist on Thursday", True),
        ("Alice sees the dentist on 4 May", 0, "Alice sees the dentist on Thursday", True),
        ("爱丽丝明天去看牙医", 1, "爱丽丝周四去看牙医", True),
        ("Alice sees the dentist tomorrow", 0, "Alice sees the dentist on Thursday", False),
        ("Alice sees the dentist on Thursday", 7, "Alice sees the dentist on Thursday", False),
        ("Alice sees the dentist on Thursday", 0, "Alice sees the dentist", False),
    ],
)
def test_the_same_day_in_other_words_is_the_same(
    new: str, days_later: int, known: str, is_same: bool
) -> None:
    """The second of May is a Tuesday."""
    assert tells_the_same(new, DAY + timedelta(days_later), known, DAY) is is_same


WORDS = st.text(min_size=1, max_size=60).filter(str.strip)


@given(WORDS, WORDS)
def test_nothing_about_texts_depends_on_their_form(one: str, other: str) -> None:
    assert is_same_subject(one, [], other, [], CALLED, DAY) == is_same_subject(
        other, [], one, [], CALLED, DAY
    )
    assert tells_the_same(one, DAY, one, DAY)


@given(st.lists(WORDS, min_size=1, max_size=5), WORDS, st.lists(st.integers(), min_size=1, max_size=5))
def test_what_is_supported_has_quotes_that_stand_in_its_lines(
    said: list[str], quote: str, sources: list[int]
) -> None:
    talk = Talk([Line(UUID(int=n), "user", "Alice", text, DAY) for n, text in enumerate(said)])
    one = learnt("Alice likes tea.", 1, "x").model_copy(
        update={"sources": sources, "quotes": [quote, said[0]]}
    )
    found = find_support(one, talk, CALLED)
    if isinstance(found, Supported):
        assert all(quote.text in squeeze(quote.line.text) for quote in found.quotes)
        assert {quote.line.message_id for quote in found.quotes} <= {line.message_id for line in found.lines}
