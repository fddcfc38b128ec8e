"""POST /v1/audio/speech."""

from json import JSONDecodeError

from aiohttp import web

from providers.rehearsal.sound.playing import played
from providers.rehearsal.sound.tone import seconds_of, tone
from providers.rehearsal.state import STATE
from providers.sound.marks import GENERATED
from providers.sound.writing import mp3, wav

VOICES = ["rehearsal", "rehearsal-low"]


async def speak(request: web.Request) -> web.StreamResponse:
    """A tone as long as the text, as MP3 or WAV."""
    try:
        body = await request.json()
        text, form = str(body["input"]), body.get("response_format") or "mp3"
    except (JSONDecodeError, KeyError, TypeError, AttributeError):
        return web.json_response({"error": {"message": "`input` is missing"}}, status=400)
    if not text or form not in {"mp3", "wav"}:
        return web.json_response(
            {"error": {"message": "`input` is empty, or the format unknown"}}, status=400
        )
    script = request.app[STATE].sound
    script.requests.append({"capability": "speech", **body})
    step = script.next_for("speech", text)
    sound = tone(step.seconds or seconds_of(text), is_silent=step.is_silent)
    if form == "wav":
        return await played(request, step, wav(sound), "audio/wav")
    return await played(request, step, mp3(sound, GENERATED), "audio/mpeg")


async def voices(_request: web.Request) -> web.Response:
    return web.json_response({"voices": VOICES})
