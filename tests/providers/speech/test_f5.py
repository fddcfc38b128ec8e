"""F5-TTS as jianchang512's server takes it: one multipart form."""

from pathlib import Path
from typing import Any

import pytest

from providers.errors import ProviderRefused, ProviderUnavailable
from providers.sound import encode_wav
from providers.speech import SpeechRequest, get_engine, synthesise
from tests.fixtures.sound import NO_SPEECH, hum
from tests.providers.speech.raw import Raw, answer, hang

SOUND, VOICE = encode_wav(hum(2.0)), b"RIFF a voice of somebody who agreed"
FORM = (
    b'--B\r\nContent-Disposition: form-data; name="ref_text"\r\n\r\nWhat is said \xe4\xbd\xa0\xe5\xa5\xbd\r\n'
    b'--B\r\nContent-Disposition: form-data; name="gen_text"\r\n\r\nI waited for you.\r\n'
    b'--B\r\nContent-Disposition: form-data; name="model"\r\n\r\nf5-tts\r\n'
    b'--B\r\nContent-Disposition: form-data; name="speed"\r\n\r\n1.5\r\n'
    b'--B\r\nContent-Disposition: form-data; name="audio"; filename="ref.wav"\r\nContent-Type: audio/wav\r\n\r\n'
    b"RIFF a voice of somebody who agreed\r\n--B--\r\n"
)
WANTED = SpeechRequest(
    "[happy] I waited for you.",
    speed=1.5,
    reference=VOICE,
    reference_text="What is said 你好",
    emotion="happy",
)


def set_to(settings: Any, server: Raw, **given: Any) -> None:
    settings.SPEECH = NO_SPEECH | {"engine": "f5", "base_url": f"{server.url}/", "seconds": 1.0} | given


async def test_the_form_is_as_documented_and_marks_of_emotion_are_left_out(settings: Any) -> None:
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server)
        sound = await synthesise(WANTED)
    assert sound.seconds == pytest.approx(2.0)
    [request] = server.requests
    assert request.line == "POST /api HTTP/1.1"
    assert "authorization" not in request.headers
    assert request.parts == FORM


async def test_an_operators_recording_speaks_for_whoever_has_none(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "b.wav").write_bytes(b"RIFF the second")
    given = {
        "a": {"path": str(tmp_path / "a.wav"), "text": "A"},
        "b": {"path": str(tmp_path / "b.wav"), "text": "B"},
    }
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server, references=given)
        speaking = get_engine()
        assert speaking is not None
        assert await speaking.voices() == ["a", "b"]
        await synthesise(SpeechRequest("Hello.", voice="b"))
        with pytest.raises(ProviderRefused, match=r"SPEECH_REFERENCES.*a\.wav"):
            await synthesise(SpeechRequest("Hello.", voice="/etc/passwd"))
    assert len(server.requests) == 1
    assert b"RIFF the second" in server.requests[0].body


async def test_without_any_recording_it_is_refused(settings: Any) -> None:
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server)
        with pytest.raises(ProviderRefused, match="SPEECH_REFERENCES"):
            await synthesise(SpeechRequest("Hello."))
    assert server.requests == []


@pytest.mark.parametrize(
    ("response", "kind", "words"),
    [
        (
            answer(b'{"error": "CUDA out of memory"}', "application/json", 500),
            ProviderUnavailable,
            "^CUDA out",
        ),
        (answer(b'{"error": "No text"}', "application/json", 400), ProviderRefused, "^No text"),
        (answer(b"<!doctype html><title>400", "text/html", 400), ProviderRefused, "400"),
        (answer(b"<html>", "text/html"), ProviderUnavailable, "A page came"),
        (answer(SOUND[:9_000]), ProviderUnavailable, "cut short"),
        (answer(b""), ProviderUnavailable, "Nothing came"),
        (hang, ProviderUnavailable, "within 1 seconds"),
    ],
)
async def test_what_goes_wrong_is_told(settings: Any, response: Any, kind: Any, words: str) -> None:
    async with Raw([response]) as server:
        set_to(settings, server)
        with pytest.raises(kind, match=words):
            await synthesise(WANTED)
