"""Emotion tags: taken out of what a model says, wherever the stream cuts them."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from companions.answers.emotion_tags import (
    MAX_TAG_CHARACTERS,
    Expressions,
    Felt,
    felt_at,
    split_emotions,
    without_tags,
)
from memory.emotion import Emotion

WORDS = st.text(alphabet="ab<>/ \n.＜＞好emotion", max_size=12)
NAMES = st.sampled_from([*Emotion.values, "melancholy", "HAPPY", "欢喜"])
NUMBERS = st.sampled_from(["", " 0.7", " 1", " 0,25", " 70%", " .5", " 12", " x"])
FORMS = st.sampled_from(
    [
        "<emotion {}{}>",
        "<EMOTION {}{}>",
        '<emotion name="{}" intensity="{}"/>',
        "< Emotion: {},{} >",
        "<emotion>{}{}</emotion>",
        "＜emotion {}{}＞",
        "<emotions {}{}",
        "<emotion {}{}\n",
    ]
)
TAGS = st.builds(lambda form, name, number: form.format(name, number), FORMS, NAMES, NUMBERS)
ANSWERS = st.lists(WORDS | TAGS, max_size=6).map("".join)


def in_pieces(text: str, cuts: list[int]) -> tuple[str, list[Felt]]:
    reading, at = Expressions(), 0
    told: list[str | Felt] = []
    for cut in sorted(cuts):
        told += reading.take(text[at:cut])
        at = max(at, cut)
    told += [*reading.take(text[at:]), *reading.end()]
    return "".join(one for one in told if isinstance(one, str)), [
        one for one in told if isinstance(one, Felt)
    ]


@given(ANSWERS, st.lists(st.integers(0, 200), max_size=12))
@example("a<emotion happy 0.7>b", [3, 5])
@example("<emotion>happy</emotion>", [9, 10, 16])
def test_any_splitting_gives_the_same_text_and_emotions(answer: str, cuts: list[int]) -> None:
    assert in_pieces(answer, [min(cut, len(answer)) for cut in cuts]) == split_emotions(answer)


@given(ANSWERS)
def test_one_character_at_a_time_gives_the_same(answer: str) -> None:
    assert in_pieces(answer, list(range(len(answer)))) == split_emotions(answer)


@given(st.text(alphabet="ab .\n好", max_size=12), TAGS, st.text(alphabet="ab .\n好", max_size=12))
def test_nothing_of_a_tag_leaks(before: str, tag: str, after: str) -> None:
    text = split_emotions(f"{before}{tag}{after}")[0]
    assert not re.search(r"(?i)[<>＜＞]|emotion|happy|melancholy|intensity|[0-9]", text)
    assert text.startswith(before)


@given(st.text(alphabet="ab<>/ \n.e=3好", max_size=40).filter(lambda text: not re.search("<e$", text)))
def test_text_that_merely_contains_a_sign_is_untouched(text: str) -> None:
    assert split_emotions(text) == (text, [])


@pytest.mark.parametrize(
    "text",
    ["1 < 2 and 3 > 2", "<b>bold</b>", "<emotional>", "x <- y", "<e-mail>", "reason < emotion, always",
     "<3", "if a < e", "emotion happy 0.7", "<em>so</em>"],
)  # fmt: skip
def test_what_is_no_tag_stays(text: str) -> None:
    assert without_tags(text) == text


@pytest.mark.parametrize(
    ("tag", "emotion", "intensity"),
    [
        ("<emotion happy 0.7>", "happy", 0.7),
        ("<Emotion SAD 1>", "sad", 1.0),
        ("<emotion curious>", "curious", 0.5),
        ("<emotion melancholy 0.9>", "neutral", 0.9),
        ("<emotion think 7>", "think", 1.0),
        ("<emotion angry 30%>", "angry", 0.3),
        ('<emotion name="awkward" intensity="0,4" />', "awkward", 0.4),
        ("<emotion>question 0.2</emotion>", "question", 0.2),
        ("< emotion surprised .6 >", "surprised", 0.6),
    ],
)
def test_a_tag_is_read_kindly(tag: str, emotion: str, intensity: float) -> None:
    assert split_emotions(f"{tag} Well.") == ("Well.", [Felt(0, Emotion(emotion), intensity)])


def test_an_emotion_holds_from_its_place_in_the_text_without_tags() -> None:
    text, felt = split_emotions("Oh. <emotion sad 0.4> I see. <emotion happy 0.8>But look!")
    assert text == "Oh. I see. But look!"
    assert [(text[one.at :], one.emotion) for one in felt] == [
        ("I see. But look!", "sad"),
        ("But look!", "happy"),
    ]
    rows = [one.row() for one in felt]
    assert [felt_at(rows, at) for at in (0, 4, 10, 11, 99)] == [None, rows[0], rows[0], rows[1], rows[1]]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("<emotion happy 0.7>\nHello", "Hello"),
        ("One.\n<emotion sad>\nTwo.", "One.\nTwo."),
        ("One.\n\n<emotion sad>\n\nTwo.", "One.\n\n\nTwo."),
        ("One <emotion sad> <emotion happy> two", "One two"),
        ("One<emotion sad> two", "One two"),
        ("<emotion happy><emotion sad> Hi", "Hi"),
        ("Hello </emotion>there", "Hello there"),
    ],
)
def test_no_gap_is_left_where_a_tag_was(answer: str, text: str) -> None:
    assert without_tags(answer) == text


@pytest.mark.parametrize("said", ["Hello Ana! How are you?", "你好，王琳！很高兴认识你。", "Hi"])
@pytest.mark.parametrize("size", [1, 7, 500])
def test_a_tag_that_lacks_only_its_end_takes_no_word_with_it(said: str, size: int) -> None:
    reading, answer = Expressions(), f"<emotion happy 0.6 {said}"
    pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
    parts = [part for piece in pieces for part in reading.take(piece)] + reading.end()
    assert "".join(part for part in parts if isinstance(part, str)) == said
    assert [part.row() for part in parts if not isinstance(part, str)] == [
        {"at": 0, "emotion": "happy", "intensity": 0.6}
    ]


def test_a_tag_that_is_never_closed_takes_a_line_of_80_characters_at_most() -> None:
    tag = "<emotion happy 0.7 "
    assert without_tags(f"Hi {tag}\nand more") == "Hi \nand more"
    assert without_tags(f"{tag}{'x' * 200}") == "x" * (200 + len(tag) - MAX_TAG_CHARACTERS)
    assert without_tags("Hi. <emot") == "Hi. "
    assert without_tags("Hi. <") == "Hi. <"


def test_signs_without_end_are_read_in_a_moment() -> None:
    """Twenty times as many take about twenty times as long, and not four hundred."""
    short, long = (_seconds("<" * count) for count in (5_000, 100_000))
    assert long < 100 * max(short, 0.001)


def _seconds(text: str) -> float:
    began = time.thread_time()
    assert without_tags(text) == text
    return time.thread_time() - began
