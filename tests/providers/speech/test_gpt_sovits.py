"""GPT-SoVITS as its api_v2 takes it."""

import json
from typing import Any

import pytest

from providers.errors import ProviderRefused, ProviderUnavailable
from providers.sound import encode_wav
from providers.speech import SpeechRequest, get_engine, synthesise
from tests.fixtures.sound import NO_SPEECH, hum
from tests.providers.speech.raw import Raw, answer, hang

SOUND = encode_wav(hum(2.0))
VOICES = {
    "mira": {"path": "voices/mira.wav", "text": "Nice to meet you.", "language": "en"},
    "小天": {"path": "/srv/tian.wav", "text": "很高兴见到你。"},
}
BODY = (
    '{"text":"Good morning, Alice.","text_lang":"en","ref_audio_path":"voices/mira.wav",'
    '"prompt_text":"Nice to meet you.","prompt_lang":"en","text_split_method":"cut5","batch_size":1,'
    '"speed_factor":1.0,"media_type":"wav","streaming_mode":false}'
)
WANTED = SpeechRequest("Good morning, Alice.")


def set_to(settings: Any, server: Raw, **given: Any) -> None:
    wanted = {"engine": "gpt-sovits", "base_url": server.url, "seconds": 1.0, "references": VOICES}
    settings.SPEECH = NO_SPEECH | wanted | given


async def sent(settings: Any, wanted: SpeechRequest, **given: Any) -> dict[str, Any]:
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server, **given)
        await synthesise(wanted)
    body: dict[str, Any] = json.loads(server.requests[0].body)
    return body


async def test_the_request_is_as_documented(settings: Any) -> None:
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server)
        sound = await synthesise(WANTED)
    assert sound.seconds == pytest.approx(2.0)
    assert server.requests[0].line == "POST /tts HTTP/1.1"
    assert server.requests[0].body == BODY.encode()


async def test_a_voice_is_one_that_the_operator_named_and_never_a_path(settings: Any) -> None:
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server)
        speaking = get_engine()
        assert speaking is not None
        assert await speaking.voices() == ["mira", "小天"]
    assert (await sent(settings, SpeechRequest("你好。", voice="小天")))["ref_audio_path"] == "/srv/tian.wav"
    assert (await sent(settings, SpeechRequest("Hello.", voice="/etc/passwd")))[
        "ref_audio_path"
    ] == "voices/mira.wav"
    assert (await sent(settings, SpeechRequest("Hello."), voice="小天"))["ref_audio_path"] == "/srv/tian.wav"


@pytest.mark.parametrize(
    ("text", "told", "language"),
    [
        ("Hello.", "", "en"),
        ("你好。", "en", "zh"),
        ("你好。", "yue", "yue"),
        ("こんにちは", "zh-hans", "ja"),
        ("안녕", "", "ko"),
        ("Привет", "", "auto"),
        ("Hallo.", "de", "auto"),
    ],
)
async def test_the_language_is_that_of_the_sentence(
    settings: Any, text: str, told: str, language: str
) -> None:
    assert (await sent(settings, SpeechRequest(text, language=told)))["text_lang"] == language


async def test_without_a_named_recording_it_is_refused(settings: Any) -> None:
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server, references={})
        with pytest.raises(ProviderRefused, match="SPEECH_REFERENCES"):
            await synthesise(WANTED)
    assert server.requests == []


@pytest.mark.parametrize(
    ("response", "kind", "words"),
    [
        (
            answer(b'{"message": "tts failed", "Exception": "no file"}', "application/json", 400),
            ProviderRefused,
            "^tts failed",
        ),
        (answer(b"oops", "text/plain", 500), ProviderUnavailable, "oops"),
        (answer(b"<html>", "text/html"), ProviderUnavailable, "A page came"),
        (answer(encode_wav(hum(2.0, loud=0.0))), ProviderUnavailable, "silent"),
        (answer(b""), ProviderUnavailable, "Nothing came"),
        (hang, ProviderUnavailable, "within 1 seconds"),
    ],
)
async def test_what_goes_wrong_is_told(settings: Any, response: Any, kind: Any, words: str) -> None:
    async with Raw([response]) as server:
        set_to(settings, server)
        with pytest.raises(kind, match=words):
            await synthesise(WANTED)
