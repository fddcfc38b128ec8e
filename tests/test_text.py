"""Text: one splitter, one shortener."""

import pytest

from text.strings import cut_sentences, ends, join_sentences, shorten, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("我说：“你好。”，然后笑了。真的！", ["我说：“你好。”，然后笑了。", "真的！"]),
        (
            "Hello Dr. Who. It is 3.5 m! “Really?” he said",
            ["Hello Dr. Who.", "It is 3.5 m!", "“Really?”", "he said"],
        ),
        ("你好。“好吗？”他说。", ["你好。", "“好吗？”", "他说。"]),
        ("One line\n\nanother… and more", ["One line", "another…", "and more"]),
        ("...", ["..."]),
        (" \n", []),
    ],
)
def test_a_text_is_split_into_its_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences
    assert "".join(cut_sentences(text)) == text


def test_sentences_are_joined_as_their_script_has_it() -> None:
    assert join_sentences(["One.", "Two.", "三。", "四。"]) == "One. Two. 三。四。"
    assert join_sentences(["She said “Go.”", "I went."]) == "She said “Go.” I went."
    assert join_sentences(["她说：“走。”", "“好”", "我走了。"]) == "她说：“走。”“好”我走了。"


def test_what_is_too_long_is_shortened() -> None:
    assert (shorten("four", 4), shorten("one two", 5)) == ("four", "one…")


@pytest.mark.parametrize(
    ("most", "left"),
    [(1, [0]), (2, [0, 4]), (3, [0, 1, 4]), (4, [0, 1, 3, 4]), (5, [0, 1, 2, 3, 4])],
)
def test_of_many_parts_the_first_and_the_last_stay(most: int, left: list[int]) -> None:
    assert ends([0, 1, 2, 3, 4], most) == left
