"""The rehearsal model's voice and ears: a tone as long as a sentence, and a fixed or scripted transcript."""

import asyncio
import base64
import json
import re
from typing import Any

import numpy as np
from aiohttp import web

from providers.rehearsal.script import SoundStep
from providers.rehearsal.state import STATE, State
from providers.rehearsal.stream import HANG_SECONDS, make_error, refuse
from providers.sound import GENERATED, Sound, SoundError, mp3, read, wav

VOICES = ["rehearsal", "rehearsal-low"]
RATE, PITCH, SYLLABLES_A_SECOND, LOUDNESS = 24_000, 220.0, 4.0, 0.4
SECONDS_A_LETTER, SECONDS_A_SIGN, MIN_SECONDS = 0.06, 0.22, 0.3
SIGN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
PART_BYTES = 1_024
MAX_SECONDS = 600.0
TRANSCRIPTS = {"zh": "这是一次排练:没有人真的听见你说的话。"}
DEFAULT_TRANSCRIPT = "This is a rehearsal: nobody has listened to what you said."


async def speak(request: web.Request) -> web.StreamResponse:
    """Answer with a tone as long as the text, as MP3 or WAV."""
    try:
        body = await request.json()
        text, form = str(body["input"]), body.get("response_format") or "mp3"
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
        return make_error("`input` is missing")
    if not text or form not in {"mp3", "wav"}:
        return make_error("`input` is empty, or the format unknown")
    step = _take_step(request.app[STATE], "speech", text, body)
    signs = len(SIGN.findall(text))
    seconds = max(MIN_SECONDS, signs * SECONDS_A_SIGN + (len(text) - signs) * SECONDS_A_LETTER)
    tone = make_tone(step.seconds or seconds, is_silent=step.is_silent)
    if form == "wav":
        return await _send(request, step, wav(tone), "audio/wav")
    return await _send(request, step, mp3(tone, GENERATED), "audio/mpeg")


async def list_voices(_request: web.Request) -> web.Response:
    return web.json_response({"voices": VOICES})


async def transcribe(request: web.Request) -> web.StreamResponse:
    """Answer with the scripted text; without a script with a sentence that says that nobody has listened."""
    try:
        fields = dict(await request.post())
    except (ValueError, AssertionError):
        fields = {}
    file = fields.pop("file", None)
    if not isinstance(file, web.FileField):
        return make_error("`file` is missing")
    content = file.file.read()
    given: dict[str, Any] = {name: str(value) for name, value in fields.items()}
    try:
        seconds = read(content, MAX_SECONDS).seconds
    except SoundError as error:
        return make_error(f"Invalid file: {error}")
    sent = {**given, "name": file.filename, "bytes": len(content)}
    step = _take_step(request.app[STATE], "transcription", given.get("prompt", ""), sent)
    language = step.language or given.get("language", "")
    text = TRANSCRIPTS.get(language, DEFAULT_TRANSCRIPT) if step.text is None else step.text
    answer = {"text": text, "duration": round(seconds, 3)} | ({"language": language} if language else {})
    return await _send(request, step, json.dumps(answer).encode(), "application/json")


def make_tone(seconds: float, *, is_silent: bool = False) -> Sound:
    """Return a tone that swells and falls as syllables do, or the silence, of that length."""
    times = np.arange(round(seconds * RATE)) / RATE
    swell = np.abs(np.sin(np.pi * SYLLABLES_A_SECOND * times))
    wave = 0 * times if is_silent else LOUDNESS * swell * np.sin(2 * np.pi * PITCH * times)
    return Sound((wave * 32_767).astype(np.int16), RATE)


def _take_step(state: State, capability: str, text: str, sent: dict[str, Any]) -> SoundStep:
    state.sound_requests.append({"capability": capability, **sent})
    return state.sound_script.take(text, capability) or SoundStep()


async def _send(request: web.Request, step: SoundStep, body: bytes, kind: str) -> web.StreamResponse:
    """Send this body, unless the step wants another, an error, or an end half-way."""
    await asyncio.sleep(step.delay)
    if refused := refuse(step, {}):
        return refused
    body, kind = body if step.body is None else base64.b64decode(step.body), step.kind or kind
    if not step.rate and step.cut_after is None and step.hang_after is None:
        return web.Response(body=body, content_type=kind)
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(request)
    ends = [end for end in (step.cut_after, step.hang_after) if end is not None]
    sent = body[: min(ends, default=len(body))]
    for at in range(0, len(sent), PART_BYTES):
        await response.write(sent[at : at + PART_BYTES])
        await asyncio.sleep(PART_BYTES / step.rate if step.rate else 0)
    if step.hang_after is not None:
        await asyncio.sleep(HANG_SECONDS)
    if step.cut_after is not None and request.transport is not None:
        request.transport.close()
    else:
        await response.write_eof()
    return response
