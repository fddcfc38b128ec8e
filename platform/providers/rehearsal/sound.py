"""The rehearsal model's speech and transcription: a tone as long as a sentence, and a fixed transcript."""

import json

import numpy as np
from aiohttp import web

from providers.rehearsal.refusal import refuse
from providers.sound import GENERATED, Sound, SoundError, encode_mp3, encode_wav, read

VOICES = ["rehearsal", "rehearsal-low"]
RATE, PITCH, LOUDNESS = 24_000, 220.0, 0.3
SECONDS_A_CHARACTER, MIN_SECONDS = 0.06, 0.3
MAX_SECONDS = 600.0
TRANSCRIPT = "This is a rehearsal: nobody has listened to what you said."
CHINESE_TRANSCRIPT = "这是一次排练：没有人真的听见你说的话。"


async def speak(request: web.Request) -> web.Response:
    """Answer with a tone as long as the text, as MP3 or WAV."""
    body = await read_speech(request)
    return play_tone(max(MIN_SECONDS, SECONDS_A_CHARACTER * len(body["input"])), body["response_format"])


async def read_speech(request: web.Request) -> dict[str, str]:
    """Return the fields of a request for speech; raise HTTPBadRequest if it has no text, or wants an unknown format."""
    try:
        body = dict(await request.json())
        body |= {"input": str(body["input"]), "response_format": body.get("response_format") or "mp3"}
    except (json.JSONDecodeError, KeyError, TypeError, ValueError):
        raise refuse("`input` is missing") from None
    if not body["input"] or body["response_format"] not in {"mp3", "wav"}:
        raise refuse("`input` is empty, or the format unknown")
    return body


def play_tone(seconds: float, form: str) -> web.Response:
    """Return a response with a tone of so many seconds, as MP3 or WAV."""
    times = np.arange(round(seconds * RATE)) / RATE
    tone = Sound((LOUDNESS * np.sin(2 * np.pi * PITCH * times) * 32_767).astype(np.int16), RATE)
    if form == "wav":
        return web.Response(body=encode_wav(tone), content_type="audio/wav")
    return web.Response(body=encode_mp3(tone, GENERATED), content_type="audio/mpeg")


async def list_voices(_request: web.Request) -> web.Response:
    return web.json_response({"voices": VOICES})


async def transcribe(request: web.Request) -> web.Response:
    """Answer with a sentence which says that nobody has listened."""
    fields, content = await read_recording(request)
    language = fields.get("language", "")
    return write_transcript(content, language, CHINESE_TRANSCRIPT if language == "zh" else TRANSCRIPT)


async def read_recording(request: web.Request) -> tuple[dict[str, str], bytes]:
    """Return the fields of a request for a transcript, with the file's name, and the file; raise HTTPBadRequest."""
    try:
        fields = dict(await request.post())
    except (ValueError, AssertionError):
        fields = {}
    file = fields.pop("file", None)
    if not isinstance(file, web.FileField):
        raise refuse("`file` is missing")
    return {name: str(value) for name, value in fields.items()} | {"name": file.filename}, file.file.read()


def write_transcript(content: bytes, language: str, text: str) -> web.Response:
    """Return a response with the text as a sound's transcript; raise HTTPBadRequest if it is no sound."""
    try:
        seconds = read(content, MAX_SECONDS).seconds
    except SoundError as error:
        raise refuse(f"Invalid file: {error}") from None
    answer = {"text": text, "duration": round(seconds, 3)}
    return web.json_response(answer | ({"language": language} if language else {}))


ANSWERS = {
    "/v1/audio/speech": speak,
    "/v1/audio/voices": list_voices,
    "/v1/audio/transcriptions": transcribe,
}
