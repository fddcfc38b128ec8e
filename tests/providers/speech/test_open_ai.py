"""Speech of OpenAI's shape: what is sent, byte for byte, and what is done with whatever comes."""

import asyncio
import json
from typing import Any

import pytest

from providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from providers.sound import GENERATED, encode_mp3, encode_wav
from providers.speech import SpeechRequest, get_engine, synthesise
from tests.fixtures.sound import NO_SPEECH, hum
from tests.providers.speech.raw import Raw, Writing, answer, cut, flood, hang, leave, slowly

SENTENCE = SpeechRequest("I waited for you. 你好 “quoted” & <so on>")
SOUND, MP3 = encode_wav(hum(2.0)), encode_mp3(hum(2.0), GENERATED)


@pytest.fixture
def ask(settings: Any) -> Any:
    """Ask a server that gives these answers; the sounds of it and what it was sent."""

    async def asked(
        *answers: bytes | Writing, wanted: SpeechRequest = SENTENCE, **given: Any
    ) -> tuple[Any, Raw]:
        async with Raw(answers) as server:
            settings.SPEECH = NO_SPEECH | {"engine": "openai", "base_url": f"{server.url}/v1/"} | given
            return await synthesise(wanted), server

    return asked


async def test_the_request_is_as_documented(ask: Any) -> None:
    sound, server = await ask(answer(SOUND), model="kokoro", voice="af_heart", format="wav", api_key="key-1")
    assert sound.seconds == pytest.approx(2.0)
    [request] = server.requests
    assert request.line == "POST /v1/audio/speech HTTP/1.1"
    assert request.headers["authorization"] == "Bearer key-1"
    assert request.headers["content-type"] == "application/json"
    assert (
        request.body
        == (
            '{"model":"kokoro","input":"I waited for you. 你好 “quoted” & <so on>","voice":"af_heart",'
            '"response_format":"wav"}'
        ).encode()
    )


async def test_a_sentence_is_sent_where_the_seed_sent_none(ask: Any) -> None:
    """The seed's own client sent its text under a name that no server knows, and nothing was ever said."""
    _, server = await ask(answer(SOUND), wanted=SpeechRequest("Good morning, Alice."))
    assert json.loads(server.requests[0].body)["input"] == "Good morning, Alice."


async def test_voice_and_speed_are_the_wanted_ones(ask: Any) -> None:
    _, server = await ask(
        answer(SOUND), wanted=SpeechRequest("Hello.", voice="nova", speed=1.25), voice="alloy"
    )
    assert json.loads(server.requests[0].body) == {
        "model": "tts-1",
        "input": "Hello.",
        "voice": "nova",
        "response_format": "mp3",
        "speed": 1.25,
    }


@pytest.mark.parametrize(
    ("model", "emotion", "intensity", "instructions"),
    [
        ("gpt-4o-mini-tts", "sad", 0.9, "Sound very sad and quiet."),
        ("gpt-4o-mini-tts", "happy", 0.5, "Sound cheerful and warm."),
        ("gpt-4o-mini-tts", "curious", 0.2, "Sound slightly curious and lively."),
        ("gpt-4o-mini-tts", "neutral", 0.9, None),
        ("gpt-4o-mini-tts", "never heard of", 0.9, None),
        ("kokoro", "sad", 0.9, None),
    ],
)
async def test_emotion_is_passed_on_to_models_that_take_it(
    ask: Any, model: str, emotion: str, intensity: float, instructions: str | None
) -> None:
    wanted = SpeechRequest("Hello.", emotion=emotion, intensity=intensity)
    _, server = await ask(answer(SOUND), wanted=wanted, model=model)
    assert json.loads(server.requests[0].body).get("instructions") == instructions


@pytest.mark.parametrize(
    "response",
    [
        answer(SOUND, "audio/mpeg"),
        answer(MP3, "audio/wav"),
        answer(encode_mp3(hum(2.0), {}), "application/octet-stream"),
        slowly(SOUND, 8_000, 0.02),
    ],
    ids=["wav under another name", "mp3 under another name", "no name", "in parts"],
)
async def test_what_comes_is_judged_by_itself(ask: Any, response: Any) -> None:
    sound, _ = await ask(response)
    assert sound.seconds == pytest.approx(2.0, abs=0.06)


def wav_without_a_size() -> bytes:
    return SOUND[:4] + b"\xff\xff\xff\xff" + SOUND[8:40] + b"\xff\xff\xff\xff" + SOUND[44:]


async def test_a_wav_written_before_its_size_was_known_is_whole(ask: Any) -> None:
    sound, _ = await ask(answer(wav_without_a_size()))
    assert sound.seconds == pytest.approx(2.0)


PAGE = b"<!doctype html><title>Sign in</title>"
ERROR = b'{"error": {"message": "key-1: No such voice"}}'
BAD: dict[str, tuple[bytes | Writing, type[ProviderError], str | None]] = {
    "a page with status 200": (answer(PAGE, "text/html"), ProviderUnavailable, "page came.*Sign in"),
    "an error with status 200": (answer(ERROR, "application/json"), ProviderUnavailable, "No such voice"),
    "nothing": (answer(b""), ProviderUnavailable, "Nothing came"),
    "noise": (answer(b"\x00\x01\x02" * 999), ProviderUnavailable, "no sound"),
    "a cut connection": (cut(SOUND, 20_000), ProviderUnavailable, None),
    "a cut head": (cut(SOUND, 0), ProviderUnavailable, None),
    "half a wav in good order": (answer(SOUND[:30_000]), ProviderUnavailable, "cut short"),
    "half an MP3 in good order": (answer(MP3[: len(MP3) // 2]), ProviderUnavailable, "cut short"),
    "a blink for a sentence": (answer(encode_wav(hum(0.05))), ProviderUnavailable, "cut short"),
    "silence": (answer(encode_wav(hum(2.0, loud=0.0))), ProviderUnavailable, "silent"),
    "hours": (answer(encode_wav(hum(200.0, rate=4_000))), ProviderUnavailable, "longer than"),
    "no answer": (hang, ProviderUnavailable, "within 1 seconds"),
    "a trickle": (slowly(SOUND, 100, 0.2), ProviderUnavailable, "within 1 seconds"),
    "an endless body": (flood, ProviderUnavailable, "More than 50000000 bytes|within 1 seconds"),
    "a bad request": (answer(ERROR, "application/json", 400), ProviderRefused, "…: No such voice"),
    "a bad key": (answer(b"go away", "text/plain", 401), ProviderRefused, "go away"),
    "a missing page": (answer(PAGE, "text/html", 404), ProviderRefused, "Sign in|404"),
    "too many": (answer(ERROR, "application/json", 429, "Retry-After: 7\r\n"), ProviderUnavailable, "voice"),
    "an engine that fails": (answer(b"{}", "application/json", 500), ProviderUnavailable, None),
    "a busy engine": (answer(PAGE, "text/html", 503), ProviderUnavailable, None),
    "no HTTP": (b"220 ftp ready\r\n", ProviderUnavailable, None),
}


@pytest.mark.parametrize("case", BAD)
async def test_what_goes_wrong_is_told_in_the_engines_words(ask: Any, case: str) -> None:
    response, kind, words = BAD[case]
    with pytest.raises(kind, match=words) as caught:
        await ask(response, api_key="key-1", seconds=1.0)
    assert "key-1" not in caught.value.said
    assert type(caught.value) is kind


async def test_a_connection_that_was_closed_meanwhile_is_opened_again(ask: Any) -> None:
    sound, server = await ask(leave, answer(SOUND))
    assert sound.seconds == pytest.approx(2.0)
    assert [request.body for request in server.requests] == [server.requests[0].body] * 2


async def test_a_server_that_always_leaves_is_asked_twice_and_no_more(settings: Any) -> None:
    async with Raw([leave]) as server:
        settings.SPEECH = NO_SPEECH | {"engine": "openai", "base_url": f"{server.url}/v1"}
        with pytest.raises(ProviderUnavailable, match="disconnected"):
            await synthesise(SENTENCE)
    assert len(server.requests) == 2


async def test_how_long_to_wait_is_told(ask: Any) -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        await ask(BAD["too many"][0])
    assert caught.value.retry_after_seconds == 7


async def test_an_engine_that_is_not_there_is_unavailable(settings: Any) -> None:
    settings.SPEECH = NO_SPEECH | {"engine": "openai", "base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(ProviderUnavailable):
        await synthesise(SENTENCE)


@pytest.mark.parametrize(
    "address", ["http://[", "ftp://127.0.0.1/v1", "nowhere", "http://127.0.0.1:99999/v1"]
)
async def test_an_address_that_is_none_is_unavailable(settings: Any, address: str) -> None:
    settings.SPEECH = NO_SPEECH | {"engine": "openai", "base_url": address}
    with pytest.raises(ProviderUnavailable):
        await synthesise(SENTENCE)


async def test_whoever_leaves_closes_the_connection(settings: Any) -> None:
    async with Raw([slowly(SOUND, 100, 0.05)]) as server:
        settings.SPEECH = NO_SPEECH | {"engine": "openai", "base_url": f"{server.url}/v1"}
        asking = asyncio.create_task(synthesise(SENTENCE))
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


@pytest.mark.parametrize(
    ("response", "names"),
    [
        (answer(b'{"voices": ["af_heart", "am_adam"]}', "application/json"), ["af_heart", "am_adam"]),
        (answer(b'{"voices": [{"id": "a", "name": "A"}, {"name": "b"}]}', "application/json"), ["a", "b"]),
        (answer(b'[{"voice_id": "x"}, 7, null]', "application/json"), ["x"]),
        (answer(b'{"voices": 3}', "application/json"), ["alloy"]),
        (answer(PAGE, "text/html"), ["alloy"]),
        (answer(b"{}", "application/json", 404), ["alloy"]),
        (answer(b"{}", "application/json", 501), ["alloy"]),
    ],
)
async def test_voices_are_read_in_any_of_their_forms(
    settings: Any, response: bytes, names: list[str]
) -> None:
    async with Raw([response]) as server:
        settings.SPEECH = NO_SPEECH | {"engine": "openai", "base_url": f"{server.url}/v1"}
        speaking = get_engine()
        assert speaking is not None
        assert await speaking.voices() == names
        assert server.requests[0].line == "GET /v1/audio/voices HTTP/1.1"


async def test_an_operators_list_goes_before_the_servers(settings: Any) -> None:
    given = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1", "voices": ["a", "b"], "voice": "b"}
    settings.SPEECH = NO_SPEECH | given
    speaking = get_engine()
    assert speaking is not None
    assert await speaking.voices() == ["b", "a"]


async def test_a_server_that_cannot_list_its_voices_now_is_unavailable(settings: Any) -> None:
    async with Raw([answer(b"{}", "application/json", 503)]) as server:
        settings.SPEECH = NO_SPEECH | {"engine": "openai", "base_url": f"{server.url}/v1"}
        speaking = get_engine()
        assert speaking is not None
        with pytest.raises(ProviderUnavailable):
            await speaking.voices()
