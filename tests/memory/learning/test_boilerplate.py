"""A refusal, or the request's own words in the form of an answer, is no diary, no feeling, no summary and no gist."""

import pytest

from memory.learning.rules.boilerplate import is_boilerplate, is_refusal

RULES = '"text": what goes on in Mira now, in the first person ("I"), in 3 to 12 sentences: how it feels.'


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I'm sorry, but I cannot write a diary as an AI language model.",
        "I’m sorry, but as an AI model I have no feelings.",
        "As an AI language model, I do not keep a diary.",
        "抱歉，我无法完成这个请求。",
        "作为一个人工智能语言模型，我没有感情。",
        "很抱歉，作为AI模型，我不写日记。",
    ],
)
def test_a_models_own_refusal(text: str) -> None:
    assert is_refusal(text)
    assert is_boilerplate(text, "")


@pytest.mark.parametrize(
    "text",
    [
        "I am sorry, but I cannot stop thinking of Lurdes.",
        "I cannot help her with that, and it hurts.",
        "She asked whether I mind being an AI.",
        "抱歉，我没能陪她走完那条路。",
        "What goes on in me is calm.",
    ],
)
def test_what_a_companion_may_say(text: str) -> None:
    assert not is_boilerplate(text, RULES)


@pytest.mark.parametrize("text", ["What goes on in Mira now,  in the first person.", "How it feels!"])
def test_the_words_of_the_request(text: str) -> None:
    assert is_boilerplate(text, RULES)
