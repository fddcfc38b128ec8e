"""What of an answer is read where a model keeps the form in its own way, or fills it with nothing."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from memory.learning import requests
from memory.learning.answers import Diary, Digest, Facts, Reflection, Understanding
from memory.learning.verification import Verification
from providers.chat.structured import find_objects


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        (Diary, requests.FELT_FORM),
        (Diary, requests.DIARY_FORM),
        (Digest, requests.DIGEST_FORM),
        (Reflection, requests.REFLECTION_FORM),
    ],
)
def test_the_form_itself_is_no_answer(answer: type[BaseModel], form: str) -> None:
    with pytest.raises(ValidationError):
        answer.model_validate(find_objects(form)[0])


def test_of_forms_with_lists_only_the_words_are_kept() -> None:
    assert Facts.model_validate(find_objects(requests.FACTS_FORM)[0]).memories == []
    edit = {"do": "add", "text": "...", "sources": [3]}
    answer = Understanding.model_validate({"self_concept": [edit], "user_profile": [edit]})
    assert (answer.self_concept, answer.user_profile) == ([], [])


@pytest.mark.parametrize(
    "diary",
    [
        "I met Alice. She likes tea.",
        ["I met Alice.", "She likes tea."],
        [{"text": "I met Alice. "}, {"text": "She likes tea."}],
    ],
)
def test_a_diary_that_is_one_text_or_a_list_of_texts_is_read(diary: Any) -> None:
    answer = Diary.model_validate({"title": "Tea", "diary": diary})
    assert [sentence.text for sentence in answer.diary] == ["I met Alice.", "She likes tea."]


def test_a_line_that_is_copied_is_no_sentence_of_a_diary() -> None:
    copied = ["09:00 Alice (user): ", '[3] 09:00 Alice (user): "I like tea."']
    told = [{"text": text, "sources": [1]} for text in (*copied, "We met at 09:00.")]
    answer = Diary.model_validate({"title": "Tea", "diary": told})
    assert [sentence.text for sentence in answer.diary] == ["We met at 09:00."]


def test_a_long_paragraph_becomes_its_sentences_with_the_same_sources() -> None:
    paragraph = "I heard of the boat. " * 30
    answer = Diary.model_validate({"title": "Boat", "diary": [{"text": paragraph, "sources": [2]}]})
    assert {(sentence.text, *sentence.sources) for sentence in answer.diary} == {("I heard of the boat.", 2)}


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ({}, ""),
        ({"title": None}, ""),
        ({"title": "…"}, ""),
        ({"title": "x" * 120}, "x" * 120),
        ({"title": "x" * 121}, "x" * 119 + "…"),
        ({"title": "09:00 Alice (user): "}, ""),
    ],
)
def test_no_title_spoils_a_diary(given: dict[str, Any], title: str) -> None:
    assert Diary.model_validate({**given, "diary": [{"text": "I met Alice."}]}).title == title


def test_words_in_the_order_of_the_sentences_are_read() -> None:
    assert Verification.model_validate({"answers": ["yes", "joke"]}).read(3) == ["yes", "joke", ""]
