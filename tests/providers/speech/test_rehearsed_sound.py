"""The rehearsal model's voice and ears, asked by Kith's own speech and transcription."""

import base64

import pytest

from providers.errors import ProviderRefused, ProviderUnavailable
from providers.sound import encode_wav
from providers.speech import SpeechRequest, get_engine, synthesise
from providers.transcription import Transcript, is_offered, transcribe
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.sound import hum


async def test_it_gives_a_tone_as_long_as_the_text(speech_rehearsal: RehearsalServer) -> None:
    short, long = (
        await synthesise(SpeechRequest("Hello.")),
        await synthesise(SpeechRequest("Hello, I have been waiting for you.")),
    )
    assert 0.3 <= short.seconds < 0.7
    assert 1.8 < long.seconds < 2.5
    assert not long.is_silent
    assert [one["input"] for one in speech_rehearsal.sound_requests()] == [
        "Hello.",
        "Hello, I have been waiting for you.",
    ]


async def test_its_voices_are_listed(speech_rehearsal: RehearsalServer) -> None:
    speaking = get_engine()
    assert speaking is not None
    assert await speaking.voices() == ["rehearsal", "rehearsal-low"]


async def test_speech_is_scripted(speech_rehearsal: RehearsalServer) -> None:
    page = base64.b64encode(b"<html>").decode()
    speech_rehearsal.script_sound(
        {"when": "third", "seconds": 4.0},
        {"error": {"status": 400, "body": {"error": {"message": "No such voice"}}}},
        {"body": page, "kind": "audio/mpeg"},
        {"capability": "transcription", "text": "never asked for"},
    )
    with pytest.raises(ProviderRefused, match="No such voice"):
        await synthesise(SpeechRequest("The first."))
    with pytest.raises(ProviderUnavailable, match="A page came"):
        await synthesise(SpeechRequest("The second."))
    assert (await synthesise(SpeechRequest("The third."))).seconds == pytest.approx(4.0, abs=0.1)
    assert (await synthesise(SpeechRequest("The fourth."))).seconds < 1


async def test_it_says_that_it_does_not_listen(speech_rehearsal: RehearsalServer) -> None:
    assert is_offered()
    heard = await transcribe(encode_wav(hum(2.0)))
    assert heard == Transcript("This is a rehearsal: nobody has listened to what you said.", "", 2.0)


async def test_transcripts_are_scripted(speech_rehearsal: RehearsalServer) -> None:
    speech_rehearsal.script_sound(
        {"capability": "transcription", "text": "I like rain.", "language": "en", "repeat": 2},
        {"capability": "transcription", "delay": 0.01, "error": {"status": 503}},
    )
    assert [(await transcribe(encode_wav(hum(1.0)))).text for _ in range(2)] == ["I like rain."] * 2
    with pytest.raises(ProviderUnavailable, match="scripted error"):
        await transcribe(encode_wav(hum(1.0)))
    assert speech_rehearsal.sound_requests()[0]["name"] == "speech.wav"


async def test_a_step_that_nobody_knows_is_refused(speech_rehearsal: RehearsalServer) -> None:
    with pytest.raises(OSError, match="400"):
        speech_rehearsal.script_sound({"sing": True})
