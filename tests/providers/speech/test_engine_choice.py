"""Which engine the settings mean, what is wrong with them, and in which language a sentence is."""

from typing import Any

import pytest

from providers.checks import check_speech
from providers.speech import get_engine, get_engine_name
from providers.speech.engine import detect_language as language_of
from tests.fixtures.sound import NO_SPEECH

MIRA = {"mira": {"path": "/srv/mira.wav", "text": "Hello."}}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "name", "place"),
    [
        ({"engine": ""}, "espeak", "espeak-ng"),
        ({"engine": "", "base_url": "http://tts/v1"}, "openai", "http://tts/v1"),
        ({"engine": "openai", "base_url": "http://tts/v1/"}, "openai", "http://tts/v1"),
        ({"engine": "f5", "base_url": "http://tts"}, "f5", "http://tts"),
        ({"engine": "fish", "base_url": "http://tts"}, "fish", "http://tts"),
        ({"engine": "gpt-sovits", "base_url": "http://tts"}, "gpt-sovits", "http://tts"),
        ({"engine": "espeak", "base_url": "http://tts"}, "espeak", "espeak-ng"),
    ],
)
def test_the_settings_choose_the_engine(settings: Any, given: dict[str, Any], name: str, place: str) -> None:
    settings.SPEECH = NO_SPEECH | given
    speaking = get_engine()
    assert speaking is not None
    assert (get_engine_name(), speaking.name, speaking.place) == (name, name, place)


def test_the_browser_speaks_where_it_is_told_to(settings: Any) -> None:
    settings.SPEECH = NO_SPEECH | {"engine": "browser", "base_url": "http://tts/v1"}
    assert get_engine() is None


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({}, []),
        ({"engine": "espeak"}, []),
        ({"engine": "openai"}, ["providers.E005"]),
        ({"references": {"mira": "/srv/mira.wav"}}, ["providers.E007"]),
        ({"references": {"mira": {"text": "Hello."}}}, ["providers.E007"]),
        ({"references": {"mira": {"path": 7}}}, ["providers.E007"]),
        ({"engine": "f5", "base_url": "http://tts"}, ["providers.W002"]),
        ({"engine": "gpt-sovits", "base_url": "http://tts", "references": MIRA}, []),
    ],
)
def test_mistakes_are_explained(settings: Any, given: dict[str, Any], ids: list[str]) -> None:
    settings.SPEECH = NO_SPEECH | given
    messages = check_speech()
    assert [message.id for message in messages] == ids
    assert all(message.hint for message in messages)


def test_a_missing_program_is_a_warning(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    settings.SPEECH = NO_SPEECH | {"engine": "espeak"}
    assert [message.id for message in check_speech()] == ["providers.W003"]


@pytest.mark.parametrize(
    ("text", "told", "language"),
    [
        ("Hello.", "", "en"),
        ("Hello.", "de", "de"),
        ("Hello.", "zh-hans", "en"),
        ("Bonjour", "fr_CA", "fr"),
        ("OK, 明天见", "en", "zh"),
        ("漢字", "ja", "ja"),
        ("ひらがなと漢字", "zh-hans", "ja"),
        ("Привіт", "uk", "uk"),
        ("Привет", "en", "ru"),
        ("42", "", "en"),
        ("42!", "zh-hans", "zh"),
        ("مرحبا", "", "ar"),
    ],
)
def test_a_sentences_script_goes_before_what_was_told(text: str, told: str, language: str) -> None:
    assert language_of(text, told) == language
