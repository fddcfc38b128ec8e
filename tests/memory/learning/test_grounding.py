"""A sentence that names what nobody said is left out."""

from datetime import UTC, datetime
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.answers import Sentence
from memory.learning.rules.grounding import is_made_up, names_in, numbers_in, select_grounded
from memory.learning.talk import Line, Talk

AT = datetime(2023, 5, 2, 9, tzinfo=UTC)
NAMES = {"user": "Emily", "companion": "Mira"}
SAID = [
    "I have 3 cats, and Rui, who lives in Porto, cooked on Friday.",
    "My rent is 1,250 euros; the exam at st lukes is on 12 June.",
    "我妹妹叫王小红，她二十三岁，五月四日过生日，最近在看《活着》。",
]


def line(n: int, text: str) -> Line:
    return Line(uuid5(UUID(int=0), str(n)), "user", "Emily", text, AT)


TALK = Talk([line(n, text) for n, text in enumerate(SAID)])
IDS = [str(one.message_id) for one in TALK.lines]


def kept(
    text: str, *sources: int, keeps: int | None = None, earlier: list[dict[str, object]] | None = None
) -> bool:
    one = Sentence(text=text, sources=list(sources), keeps=keeps)
    return bool(select_grounded([one], TALK, earlier or [], NAMES))


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Emily told me that she has three cats.", 1),
        ("She has 3 cats and I, Mira, love that.", 1),
        ("However, Rui cooked for her.", 1),
        ("I love Rui and his Porto.", 2),  # named a line before
        ("On 2 May 2023 we talked about Rui in Porto.", 1),
        ("In 2023 Emily had 3 cats.", 1),
        ("She pays 1250 euros and has an exam on 12 June.", 2),
        ("Her exam is at St Luke's.", 2),  # written without its apostrophe
        ("Her exam is on 12 June 2023.", 2),
        ("她妹妹23岁，在看《活着》。", 3),
        ("王小红的生日是5月4日。", 3),
        ("我们聊了很久，她很开心。", 3),
    ],
)
def test_what_was_said_may_be_told(text: str, source: int) -> None:
    assert kept(text, source)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Emily told me that she has four cats.", 1),
        ("She has 33 cats.", 1),
        ("She told me about Paul.", 1),
        ("Paul is her friend.", 1),
        ("We met on 3 May 2023.", 1),
        ("Her exam is on 13 June.", 2),
        ("Rui cooked for her.", 4),
        ("她妹妹24岁。", 3),
        ("她在看《红楼梦》。", 3),
        ("她跟老张吵架了。", 3),
        ("她妹妹叫李小红。", 3),
        ("生日是五月五日。", 3),
        ("Her PIN is 1250.", 2),
    ],
)
def test_what_nobody_said_is_left_out(text: str, source: int) -> None:
    assert not kept(text, source)


def test_a_sentence_needs_a_source() -> None:
    assert not kept("We were together.")
    assert not kept("We were together.", 0, -1, 99)


EARLIER: list[dict[str, object]] = [{"text": "Emily knows Paul from 1999.", "sources": ["a", "b"]}]


def test_what_is_kept_of_an_earlier_revision_brings_its_names_and_sources() -> None:
    one = Sentence(text="Emily, who knows Paul since 1999, has 3 cats.", sources=[1], keeps=1)
    assert select_grounded([one], TALK, EARLIER, NAMES) == [{"text": one.text, "sources": ["a", "b", IDS[0]]}]
    assert not kept("Emily knows Paul since 1999.", 1, earlier=EARLIER)
    assert not kept("Emily knows Peter since 1999.", 1, keeps=1, earlier=EARLIER)
    assert not kept("Emily knows Paul since 1999.", 1, keeps=2, earlier=EARLIER)


def test_what_was_written_by_hand_stays_as_it_was() -> None:
    by_hand: list[dict[str, object]] = [{"text": "Emily adores Bach.", "sources": []}]
    assert kept("Emily adores Bach.", keeps=1, earlier=by_hand)
    assert not kept("Emily adores Brahms.", keeps=1, earlier=by_hand)


def test_the_same_sentence_stands_once_and_knows_its_messages() -> None:
    twice = [Sentence(text="Rui cooked.", sources=[1, 1, 77]), Sentence(text="rui cooked.", sources=[1])]
    assert select_grounded(twice, TALK, [], NAMES) == [{"text": "Rui cooked.", "sources": [IDS[0]]}]


def test_names_and_numbers_are_read() -> None:
    assert names_in("Yesterday I met Anna-Maria O'Neil in New York.") == {
        "anna-maria",
        "o'neil",
        "new",
        "york",
    }
    assert names_in("Dentist with Dr. Weber, then Mrs. Alt. Later tea") == {"weber", "alt"}
    assert numbers_in("二十三, 三百五十, 二〇二三, 一万二千, 12,345 and seven") == {
        *("23", "350", "2023", "12000", "12345", "7"),
    }


def test_a_numeral_too_great_to_be_written_in_digits_stands_for_itself() -> None:
    endless, great = "九" + "亿" * 560, "九" + "亿" * 19
    assert numbers_in(f"{great}, {endless}") == {str(9 * 10**152), endless}
    asked = [Sentence(text=f"她数到{endless[:390]}。", sources=[1])]
    for said, is_told in ((endless, False), (endless[:390], True)):
        assert bool(select_grounded(asked, Talk([line(1, f"我数到{said}。")]), [], NAMES)) is is_told


@given(st.text(max_size=100), st.lists(st.integers(), max_size=5), st.none() | st.integers())
def test_any_sentence_can_be_looked_at(text: str, sources: list[int], keeps: int | None) -> None:
    one = Sentence.model_construct(text=text, sources=sources, keeps=keeps)
    assert all(
        set(found["sources"]) <= {*IDS, "a", "b"} for found in select_grounded([one], TALK, EARLIER, NAMES)
    )


def test_a_secret_is_taken_out_of_a_sentence_and_one_that_is_all_secret_left_out() -> None:
    talk = Talk([line(1, "My password is Zebra-42, and I have a cat.")])
    asked = [Sentence(text=text, sources=[1]) for text in ("She has a cat and zebra-42.", "Zebra-42")]
    assert [one["text"] for one in select_grounded(asked, talk, [], NAMES)] == ["She has a cat and …."]
    by_hand = [{"text": "My password is Zebra-42.", "sources": []}]
    assert select_grounded([Sentence(text=by_hand[0]["text"], keeps=1)], talk, by_hand, NAMES) == by_hand


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Hello.", "@2023-05-02"),  # on which it was said
        ("The exam is on 12 June.", "@06-12"),
        ("We flew the day before yesterday.", "@2023-04-30"),
        ("We fly the day after tomorrow.", "@2023-05-04"),
        ("We fly on the 11th.", "@2023-05-11"),
        ("Rent is due on the 11th.", "@2023-06-11"),  # or in the next month
    ],
)
def test_a_line_names_days_in_words_and_in_numbers(text: str, day: str) -> None:
    assert day in line(1, text).days


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("I listened to the rain while Emily told me of her cats.", True),
        ("I promised Emily to come to her exam.", True),
        ("The sea glittered under countless distant lanterns.", True),
        ("I like that Emily has three cats.", False),
    ],
)
def test_what_nobody_mentioned_is_made_up(text: str, is_so: bool) -> None:
    assert is_made_up(text, TALK, [], list(NAMES.values())) is is_so


def test_who_says_that_they_will_has_promised() -> None:
    talk = Talk([line(1, "Can you wake me at six?"), line(2, "Done: at six I'll wake you.")])
    assert not is_made_up("I promised Emily to wake her at six.", talk, [], list(NAMES.values()))
    assert is_made_up("Emily cried at six.", talk, [], list(NAMES.values()))
