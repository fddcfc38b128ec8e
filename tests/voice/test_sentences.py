"""A text is cut into sentences as it comes: the same ones however it is cut into pieces, and each with its place."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.speech.sentences import MAX_WIDTH, Sentence, SentenceStream, measure_width, split_sentences

TEXTS = st.text(st.sampled_from("ab Z1.!?,;:\n*_`()（）[]<>…。！？，“”\"'🥚中한é-#"), max_size=200)


def texts(text: str) -> list[str]:
    return [one.text for one in split_sentences(text)]


def in_pieces(text: str, places: list[int]) -> list[Sentence]:
    cut, found = SentenceStream(), []
    ends = sorted({min(place, len(text)) for place in places} | {0, len(text)})
    for begin, end in itertools.pairwise(ends):
        found += cut.add(text[begin:end])
    return found + cut.finish()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Hello there! How are you? Fine.", ["Hello there!", "How are you?", "Fine."]),
        ("你好！今天天气很好。我们走吧", ["你好！", "今天天气很好。", "我们走吧"]),
        ("“真的吗？”她问。", ["“真的吗？”", "她问。"]),
        ("नमस्ते। आप कैसे हैं?", ["नमस्ते।", "आप कैसे हैं?"]),
        ("مرحبا؟ نعم.", ["مرحبا؟", "نعم."]),
        ("こんにちは。元気ですか？はい。", ["こんにちは。", "元気ですか？", "はい。"]),
        ("안녕하세요. 잘 지내요?", ["안녕하세요.", "잘 지내요?"]),
        ("Dr. Smith and Mrs. Jones came. They left.", ["Dr. Smith and Mrs. Jones came.", "They left."]),
        ("It costs 3.14 or 1,000.50 euros. Cheap.", ["It costs 3.14 or 1,000.50 euros.", "Cheap."]),
        ("J. R. R. Tolkien wrote it, e.g. at night.", ["J. R. R. Tolkien wrote it, e.g. at night."]),
        ("Look at example.com/a.b?c=d now. Yes.", ["Look at example.com/a.b?c=d now.", "Yes."]),
        ("Wait... what? No.", ["Wait... what?", "No."]),
        ("“Really?” she said. “Yes.”", ["“Really?” she said.", "“Yes.”"]),
        ("1. Buy milk\n2. Buy eggs", ["1. Buy milk", "2. Buy eggs"]),
        ("One line\nanother line", ["One line", "another line"]),
        ("我想……也许吧。好。", ["我想……也许吧。", "好。"]),
        ("Really?! Yes!!! Good.", ["Really?!", "Yes!!!", "Good."]),
        ("*She smiles. She nods.* Come in.", ["*She smiles. She nods.* Come in."]),
        ("**Good.** Then go.", ["**Good.**", "Then go."]),
        ("", []),
        (" \n\n ", []),
        ("🙂🙂", []),
    ],
)
def test_a_text_has_these_sentences(text: str, sentences: list[str]) -> None:
    assert texts(text) == sentences


def test_what_says_nothing_has_no_number() -> None:
    text = "First.\n\n```python\nprint('Not. This.')\n```\n🥚🥚\n---\nSecond."
    found = split_sentences(text)
    assert [(one.number, one.text) for one in found] == [(0, "First."), (1, "Second.")]
    assert text[found[1].start : found[1].end] == "Second."


def test_a_long_first_sentence_begins_to_be_said_at_its_comma() -> None:
    text = "When I was walking along the river yesterday in the rain, I saw a heron, and it saw me."
    first, rest = texts(text)
    assert first == "When I was walking along the river yesterday in the rain,"
    assert rest == "I saw a heron, and it saw me."
    assert texts(f"Yes. {text}")[1] == text


@pytest.mark.parametrize("text", ["word " * 200, "字" * 300, "x" * 700, "没完没了，" * 90])
def test_what_never_ends_is_cut_all_the_same(text: str) -> None:
    found = split_sentences(text)
    assert len(found) > 1
    assert "".join(one.text for one in found).replace(" ", "") == text.replace(" ", "")
    assert all(sum(map(measure_width, one.text)) <= MAX_WIDTH + 2 for one in found)


def test_a_sentence_comes_as_soon_as_its_end_is_sure() -> None:
    cut = SentenceStream()
    assert cut.add("Hello there") == []
    assert cut.add(".") == []  # it may be a number, or an abbreviation
    assert [one.text for one in cut.add(" H")] == ["Hello there."]
    assert cut.add("ow are you") == []
    assert [one.text for one in cut.finish()] == ["How are you"]


def test_in_chinese_the_next_sign_is_enough() -> None:
    cut = SentenceStream()
    assert cut.add("你好。") == []  # a closing quotation mark would belong to it
    assert [one.text for one in cut.add("我")] == ["你好。"]


@given(TEXTS, st.lists(st.integers(0, 200), max_size=30))
def test_pieces_make_no_difference(text: str, places: list[int]) -> None:
    whole = split_sentences(text)
    assert in_pieces(text, places) == whole
    assert in_pieces(text, list(range(len(text)))) == whole


@given(TEXTS)
def test_sentences_are_numbered_in_order_and_stand_where_they_say(text: str) -> None:
    found = split_sentences(text)
    assert [one.number for one in found] == list(range(len(found)))
    ends = [0]
    for one in found:
        assert ends[-1] <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == one.text
        assert any(map(str.isalnum, one.said))
        ends.append(one.end)
