"""The rehearsal model's speech and transcription: a tone as long as a sentence, and a fixed or scripted transcript."""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from aiohttp import web

from providers.rehearsal.script import SCRIPT, make_error
from providers.sound import GENERATED, Sound, SoundError, mp3, read, wav

VOICES = ["rehearsal", "rehearsal-low"]
RATE, PITCH, LOUDNESS = 24_000, 220.0, 0.3
SECONDS_A_CHARACTER, MIN_SECONDS = 0.06, 0.3
MAX_SECONDS = 600.0
TRANSCRIPT = "This is a rehearsal: nobody has listened to what you said."
CHINESE_TRANSCRIPT = "这是一次排练：没有人真的听见你说的话。"


async def speak(request: web.Request) -> web.Response:
    """Answer with a tone as long as the text, as MP3 or WAV."""
    try:
        body = await request.json()
        text, form = str(body["input"]), body.get("response_format") or "mp3"
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
        return make_error("`input` is missing")
    if not text or form not in {"mp3", "wav"}:
        return make_error("`input` is empty, or the format unknown")
    return await _answer(request, "speech", text, body, max(MIN_SECONDS, SECONDS_A_CHARACTER * len(text)))


async def list_voices(_request: web.Request) -> web.Response:
    return web.json_response({"voices": VOICES})


async def transcribe(request: web.Request) -> web.Response:
    """Answer with the scripted text or, without a script, with a sentence which says that nobody has listened."""
    try:
        fields = dict(await request.post())
    except (ValueError, AssertionError):
        fields = {}
    file = fields.pop("file", None)
    if not isinstance(file, web.FileField):
        return make_error("`file` is missing")
    content = file.file.read()
    try:
        seconds = read(content, MAX_SECONDS).seconds
    except SoundError as error:
        return make_error(f"Invalid file: {error}")
    given = {name: str(value) for name, value in fields.items()}
    sent = {**given, "name": file.filename, "bytes": len(content)}
    return await _answer(request, "transcription", given.get("prompt", ""), sent, seconds)


async def _answer(
    request: web.Request, capability: str, text: str, sent: Mapping[str, Any], seconds: float
) -> web.Response:
    """Answer as the step for this request scripts it, else with a tone or a transcript of `seconds`."""
    script = request.app[SCRIPT]
    script.sound_requests.append({"capability": capability, **sent})
    step = script.take(capability, text)
    await asyncio.sleep(step.delay)
    if refused := step.refuse({}):
        return refused
    if step.body is not None:
        return web.Response(body=base64.b64decode(step.body), content_type=step.kind)
    if capability == "transcription":
        language = step.language or sent.get("language", "")
        heard = CHINESE_TRANSCRIPT if language == "zh" else TRANSCRIPT
        answer = {"text": heard if step.text is None else step.text, "duration": round(seconds, 3)}
        return web.json_response(answer | ({"language": language} if language else {}))
    times = np.arange(round((step.seconds or seconds) * RATE)) / RATE
    tone = Sound((LOUDNESS * np.sin(2 * np.pi * PITCH * times) * 32_767).astype(np.int16), RATE)
    if sent.get("response_format") == "wav":
        return web.Response(body=wav(tone), content_type="audio/wav")
    return web.Response(body=mp3(tone, GENERATED), content_type="audio/mpeg")


ANSWERS = {
    "/v1/audio/speech": speak,
    "/v1/audio/voices": list_voices,
    "/v1/audio/transcriptions": transcribe,
}
