"""Which messages can only be understood with what was said before them."""

import pytest

from memory.recall.query import is_follow_up

NAMES = {"user": "Ana", "companion": "Noor"}
LEANS = [
    "and her sister?",
    "What about him?",
    "When was that?",
    "How old is he, Noor?",
    "Noor, who is she?",
    "I miss him",
    "And Tiago?",
    "and you?",
    "why?",
    "Where?",
    "她妹妹呢?",
    "他最近怎么样?",
    "那后来呢?",
    "你呢",
    "为什么?",
]
STANDS_ALONE = [
    "hey",
    "it's raining again",
    "When did Melanie paint her sunrise?",
    "When did Caroline have a picnic?",
    "my sister Marta is a nurse",
    "Ana went to the sea",
    "How is Gina's store doing?",
    "今天天气不错",
    "我姐姐玛尔塔在波尔图当护士",
    "",
]


@pytest.mark.parametrize("text", LEANS)
def test_it_leans_on_what_was_said_before(text: str) -> None:
    assert is_follow_up(text, NAMES)


@pytest.mark.parametrize("text", STANDS_ALONE)
def test_it_says_what_it_is_about(text: str) -> None:
    assert not is_follow_up(text, NAMES)
