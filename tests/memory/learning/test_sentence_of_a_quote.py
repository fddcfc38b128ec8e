"""The sentences in which a quote stands, by which a line is judged."""

import pytest

from memory.learning.rules.sincerity import find_sentence


@pytest.mark.parametrize(
    ("quote", "text", "sentence"),
    [
        ("I like tea", "Hello! I like tea. Do you?", "I like tea."),
        ("tea. Do you", "Hello! I like tea. Do you? Bye.", "I like tea. Do you?"),
        ("我很好。你呢", "哈哈，开玩笑的。我很好。你呢？再见。", "我很好。你呢？"),
        ("not there", "Hello! I like tea.", "Hello! I like tea."),
        ("", "Hello! I like tea.", "Hello! I like tea."),
    ],
)
def test_it_is_found_over_one_sentence_or_several(quote: str, text: str, sentence: str) -> None:
    assert find_sentence(quote, text) == sentence
