"""Transcription of OpenAI's shape: what is sent, byte for byte, and what is done with whatever comes."""

import asyncio
import json
from typing import Any

import pytest

from providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from providers.transcription import Transcript, is_offered, is_written_in_silence, transcribe
from tests.fixtures.sound import NO_TRANSCRIPTION
from tests.providers.speech.raw import Raw, Writing, answer, cut, flood, hang, leave

SOUND = b"RIFF what was said"


def told(text: object) -> bytes:
    return answer(json.dumps(text).encode(), "application/json")


def set_to(settings: Any, server: Raw, **given: Any) -> None:
    wanted = {"base_url": f"{server.url}/v1", "api_key": "key-1", "model": "small", "seconds": 1.0}
    settings.TRANSCRIPTION = NO_TRANSCRIPTION | wanted | given


def part(name: str, value: str) -> bytes:
    return f'--B\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


FILE = (
    b'--B\r\nContent-Disposition: form-data; name="file"; filename="speech.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n'
    + SOUND
    + b"\r\n"
)


async def test_the_form_is_as_documented(settings: Any) -> None:
    async with Raw([told({"text": " I like rain. "})]) as server:
        set_to(settings, server)
        heard = await transcribe(SOUND, "speech.mp3", "zh-hans", "Mira, 小天")
    assert heard == Transcript("I like rain.", "zh", 0.0)
    [request] = server.requests
    assert request.line == "POST /v1/audio/transcriptions HTTP/1.1"
    assert request.headers["authorization"] == "Bearer key-1"
    given = {"model": "small", "language": "zh", "prompt": "Mira, 小天", "response_format": "json"}
    parts = [request.parts.removesuffix(b"--B--\r\n")]
    for piece in [FILE, *(part(name, value) for name, value in given.items())]:
        parts = [rest for one in parts for rest in one.split(piece)]
    assert b"".join(parts) == b""


@pytest.mark.parametrize(
    "text",
    [
        "Thank you for watching!",
        "Thanks for watching. Thanks for watching.",
        "[BLANK_AUDIO]",
        "(upbeat music)",
        "…",
        "谢谢大家观看。",
        "请不吝点赞 订阅 转发 打赏支持明镜与点点栏目",
        "Subtitles by the Amara.org community",
    ],
)
async def test_what_models_write_where_nobody_speaks_is_no_transcript(settings: Any, text: str) -> None:
    async with Raw([told({"text": text})]) as server:
        set_to(settings, server)
        assert (await transcribe(SOUND)).text == ""


@pytest.mark.parametrize(
    "text",
    [
        "Thank you.",
        "Thank you for watching my cat!",
        "Bye. Thank you for watching.",
        "(laughs) Yes.",
        "谢谢。",
    ],
)
def test_what_people_say_is_never_taken_for_silence(text: str) -> None:
    assert not is_written_in_silence(text)


async def test_a_connection_that_was_closed_meanwhile_is_opened_again(settings: Any) -> None:
    async with Raw([leave, told({"text": "Hello."})]) as server:
        set_to(settings, server)
        assert (await transcribe(SOUND)).text == "Hello."
    assert server.requests[0].parts == server.requests[1].parts


async def test_what_is_not_known_is_not_sent(settings: Any) -> None:
    async with Raw([told({"text": "Hello."})]) as server:
        set_to(settings, server, model="")
        await transcribe(SOUND)
    body = server.requests[0].parts
    assert part("model", "whisper-1") in body
    assert b'filename="speech.wav"' in body
    assert b'"language"' not in body
    assert b'"prompt"' not in body


@pytest.mark.parametrize(
    ("given", "heard"),
    [
        ({"text": "Hi", "language": "english", "duration": 3.5}, Transcript("Hi", "en", 3.5)),
        (
            {"text": "Hi", "language": "zh", "usage": {"type": "duration", "seconds": 4}},
            Transcript("Hi", "zh", 4),
        ),
        ({"text": "", "language": "Klingon", "duration": "long"}, Transcript("", "de", 0)),
        (
            {"text": "Hi", "language": None, "duration": -1, "usage": {"type": "tokens"}},
            Transcript("Hi", "de", 0),
        ),
        ({"text": "Hi", "usage": 7}, Transcript("Hi", "de", 0)),
    ],
)
async def test_language_and_length_are_read_where_they_are_told(
    settings: Any, given: dict[str, Any], heard: Transcript
) -> None:
    async with Raw([told(given)]) as server:
        set_to(settings, server)
        assert await transcribe(SOUND, language="de") == heard


PAGE = answer(b"<!doctype html><title>Sign in</title>", "text/html")
BAD: dict[str, tuple[bytes | Writing, type[ProviderError], str | None]] = {
    "a page with status 200": (PAGE, ProviderUnavailable, "No JSON.*Sign in"),
    "plain text": (answer(b"Hello", "text/plain"), ProviderUnavailable, "No JSON"),
    "nothing": (answer(b"", "application/json"), ProviderUnavailable, "No JSON"),
    "an error with status 200": (
        told({"error": {"message": "key-1 is out"}}),
        ProviderUnavailable,
        "… is out",
    ),
    "no text": (told({"segments": []}), ProviderUnavailable, "No text"),
    "a list": (told(["Hello"]), ProviderUnavailable, "No text"),
    "half an answer": (cut(b'{"text": "Hello"}', 9), ProviderUnavailable, None),
    "half an answer in good order": (
        answer(b'{"text": "Hel', "application/json"),
        ProviderUnavailable,
        "No JSON",
    ),
    "no answer": (hang, ProviderUnavailable, "within 1 seconds"),
    "an endless body": (flood, ProviderUnavailable, None),
    "a refusal": (answer(b'{"detail": "Too long"}', "application/json", 413), ProviderRefused, "^Too long"),
    "a bad key": (answer(b'{"error": "key-1?"}', "application/json", 401), ProviderRefused, "^…"),
    "too many": (answer(b"{}", "application/json", 429), ProviderUnavailable, None),
    "a fault": (answer(b"Traceback", "text/plain", 500), ProviderUnavailable, "Traceback"),
}


@pytest.mark.parametrize("case", BAD)
async def test_what_goes_wrong_is_told_in_the_servers_words(settings: Any, case: str) -> None:
    response, kind, words = BAD[case]
    async with Raw([response]) as server:
        set_to(settings, server)
        with pytest.raises(kind, match=words) as caught:
            await transcribe(SOUND)
    assert "key-1" not in caught.value.said


async def test_without_a_server_there_is_none(no_sound_providers: None) -> None:
    assert not is_offered()
    with pytest.raises(ProviderUnavailable, match="No transcription"):
        await transcribe(SOUND)


async def test_whoever_leaves_closes_the_connection(settings: Any) -> None:
    async with Raw([hang]) as server:
        set_to(settings, server, seconds=30.0)
        asking = asyncio.create_task(transcribe(SOUND))
        while not server.requests:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        for _ in range(200):
            if server.left:
                break
            await asyncio.sleep(0.01)
        assert server.left == 1
