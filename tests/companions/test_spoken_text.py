"""A text is cut where its sound was broken off: whole words, nothing added."""

import pytest

from companions.replies.actions import cut_to_words

CASES = [
    ("Good evening, Alice.", 20, "Good evening, Alice."),
    ("Good evening, Alice.", 99, "Good evening, Alice."),
    ("Good evening, Alice.", 19, "Good evening, Alice"),
    ("Good evening, Alice.", 18, "Good evening,"),
    ("Good evening, Alice.", 12, "Good evening"),
    ("Good evening, Alice.", 7, "Good"),
    ("Good evening, Alice.", 5, "Good"),
    ("Good evening, Alice.", 4, "Good"),
    ("Good evening, Alice.", 3, ""),
    ("Good evening, Alice.", 0, ""),
    ("Good evening, Alice.", -5, ""),
    ("It costs 3.14 now", 10, "It costs"),
    ("I don't know", 5, "I"),
    ("Wait—what?", 6, "Wait—"),
    ("今天天气很好，我们去散步吧。", 6, "今天天气很好"),
    ("今天天气很好，我们去散步吧。", 7, "今天天气很好，"),
    ("她说Python很好", 5, "她说"),
    ("สวัสดีครับ", 3, "สวั"),  # a vowel sign stays with its consonant
    ("She said “Hello there", 11, "She said"),
    ("She said (quietly) no", 10, "She said"),
    ("👩‍🚀 flies", 1, ""),
    ("“…” he began", 3, ""),
    ("One.\n\nTwo.", 6, "One."),
    ("", 0, ""),
]


@pytest.mark.parametrize(("text", "until", "heard"), CASES)
def test_whole_words_are_kept(text: str, until: int, heard: str) -> None:
    assert cut_to_words(text, until) == heard


@pytest.mark.parametrize("text", sorted({text for text, _, _ in CASES}))
def test_every_cut_is_a_beginning_and_further_is_never_less(text: str) -> None:
    cuts = [cut_to_words(text, place) for place in range(len(text) + 1)]
    assert all(text.startswith(one) for one in cuts)
    assert cuts == sorted(cuts, key=len)
    assert cuts[-1] == text
    again = [cut_to_words(one, place) for place, one in enumerate(cuts)]
    assert again == cuts


def test_a_long_text_without_any_space_is_cut_at_once() -> None:
    assert cut_to_words("." * 200_000 + "a", 199_999) == ""
    assert cut_to_words("x" * 200_000, 199_999) == ""
