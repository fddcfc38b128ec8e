"""Fish Speech as its own server takes it."""

import base64
import json
from typing import Any

import pytest

from providers.errors import ProviderRefused, ProviderUnavailable
from providers.sound import encode_wav
from providers.speech import SpeechRequest, get_engine, synthesise
from tests.fixtures.sound import NO_SPEECH, hum
from tests.providers.speech.raw import Raw, answer, cut, hang, leave

SOUND = encode_wav(hum(2.0))
PLAIN = (
    '{"text":"Good morning, Alice. 早上好","format":"wav","references":[],"reference_id":null,'
    '"normalize":true,"streaming":false,"use_memory_cache":"on"}'
)
WANTED = SpeechRequest("Good morning, Alice. 早上好")


def set_to(settings: Any, server: Raw, **given: Any) -> None:
    settings.SPEECH = NO_SPEECH | {"engine": "fish", "base_url": server.url, "seconds": 1.0} | given


async def sent(settings: Any, wanted: SpeechRequest, **given: Any) -> dict[str, Any]:
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server, **given)
        await synthesise(wanted)
    body: dict[str, Any] = json.loads(server.requests[0].body)
    return body


async def test_the_text_is_sent_where_the_seed_sent_it_under_a_wrong_name(settings: Any) -> None:
    """The seed's client sent {"t": …}: its own test passed, and no companion ever spoke."""
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server, api_key="key-1")
        sound = await synthesise(WANTED)
    assert sound.seconds == pytest.approx(2.0)
    [request] = server.requests
    assert request.line == "POST /v1/tts HTTP/1.1"
    assert request.headers["authorization"] == "Bearer key-1"
    assert request.headers["content-type"] == "application/json"
    assert request.body == PLAIN.encode()


async def test_an_address_that_ends_in_v1_is_the_same_server(settings: Any) -> None:
    async with Raw([answer(SOUND)]) as server:
        set_to(settings, server, base_url=f"{server.url}/v1/")
        await synthesise(WANTED)
    assert server.requests[0].line == "POST /v1/tts HTTP/1.1"


async def test_a_connection_that_was_closed_meanwhile_is_opened_again(settings: Any) -> None:
    async with Raw([leave, answer(SOUND)]) as server:
        set_to(settings, server)
        await synthesise(WANTED)
    assert len(server.requests) == 2


async def test_a_voice_is_a_reference_of_the_servers(settings: Any) -> None:
    assert (await sent(settings, SpeechRequest("Hello.", voice="mira")))["reference_id"] == "mira"
    assert (await sent(settings, SpeechRequest("Hello."), voice="own"))["reference_id"] == "own"


async def test_a_recording_goes_with_the_sentence_and_before_any_voice(settings: Any) -> None:
    recording = encode_wav(hum(0.5))
    body = await sent(
        settings, SpeechRequest("Hello.", voice="mira", reference=recording, reference_text="La")
    )
    assert body["references"] == [{"audio": base64.b64encode(recording).decode(), "text": "La"}]
    assert body["reference_id"] is None


async def test_a_recording_too_short_to_be_taken_for_one_is_not_sent(settings: Any) -> None:
    with pytest.raises(ProviderRefused, match="too short"):
        await sent(settings, SpeechRequest("Hello.", reference=b"RIFF"))


@pytest.mark.parametrize(
    ("model", "intensity", "text"),
    [
        ("openaudio-s1-mini", 0.8, "(sad) Hello."),
        ("openaudio-s1-mini", 0.1, "Hello."),
        ("fish-speech-1.5", 0.8, "Hello."),
        ("", 0.8, "Hello."),
    ],
)
async def test_emotion_is_marked_for_models_that_know_the_marks(
    settings: Any, model: str, intensity: float, text: str
) -> None:
    body = await sent(settings, SpeechRequest("Hello.", emotion="sad", intensity=intensity), model=model)
    assert body["text"] == text


@pytest.mark.parametrize(
    ("response", "names"),
    [
        (
            answer(b'{"success": true, "reference_ids": ["mira", "tian"]}', "application/json"),
            ["mira", "tian"],
        ),
        (answer(b"\x83\xa7success", "application/msgpack"), []),
        (answer(b'{"detail": "Not found"}', "application/json", 404), []),
    ],
)
async def test_its_references_are_its_voices(settings: Any, response: bytes, names: list[str]) -> None:
    async with Raw([response]) as server:
        set_to(settings, server)
        speaking = get_engine()
        assert speaking is not None
        assert await speaking.voices() == names
    assert server.requests[0].line == "GET /v1/references/list HTTP/1.1"
    assert server.requests[0].headers["accept"] == "application/json"


@pytest.mark.parametrize(
    ("response", "kind", "words"),
    [
        (
            answer(b'{"message": "Text is too long"}', "application/json", 400),
            ProviderRefused,
            "^Text is too",
        ),
        (answer(b'{"detail": "Invalid token"}', "application/json", 401), ProviderRefused, "^Invalid token"),
        (answer(b'{"detail": [{"loc": ["text"]}]}', "application/json", 422), ProviderRefused, "text"),
        (answer(b"Unsupported", "text/plain", 415), ProviderRefused, "Unsupported"),
        (answer(b"Internal Server Error", "text/plain", 500), ProviderUnavailable, "Internal"),
        (answer(b"<html>", "text/html"), ProviderUnavailable, "A page came"),
        (cut(SOUND, 9_000), ProviderUnavailable, None),
        (answer(SOUND[:44]), ProviderUnavailable, "no sound"),
        (hang, ProviderUnavailable, "within 1 seconds"),
    ],
)
async def test_what_goes_wrong_is_told(settings: Any, response: Any, kind: Any, words: str | None) -> None:
    async with Raw([response]) as server:
        set_to(settings, server)
        with pytest.raises(kind, match=words):
            await synthesise(WANTED)
