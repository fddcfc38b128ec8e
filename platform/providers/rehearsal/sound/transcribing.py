"""POST /v1/audio/transcriptions."""

import json
from typing import Any

from aiohttp import web

from providers.rehearsal.sound.playing import played
from providers.rehearsal.state import STATE
from providers.sound.errors import SoundError
from providers.sound.reading import read

MOST_SECONDS = 600.0
TEXT = {"zh": "这是一次排练:没有人真的听见你说的话。"}
DEFAULT = "This is a rehearsal: nobody has listened to what you said."


async def transcribe(request: web.Request) -> web.StreamResponse:
    """The scripted text; without a script a sentence that says that nobody has listened."""
    try:
        fields = dict(await request.post())
    except (ValueError, AssertionError):
        fields = {}
    file = fields.pop("file", None)
    if not isinstance(file, web.FileField):
        return web.json_response({"error": {"message": "`file` is missing"}}, status=400)
    content = file.file.read()
    script = request.app[STATE].sound
    given: dict[str, Any] = {name: str(value) for name, value in fields.items()}
    script.requests.append(
        {"capability": "transcription", **given, "name": file.filename, "bytes": len(content)}
    )
    try:
        seconds = read(content, MOST_SECONDS).seconds
    except SoundError as error:
        return web.json_response({"error": {"message": f"Invalid file: {error}"}}, status=400)
    step = script.next_for("transcription", given.get("prompt", ""))
    language = step.language or given.get("language", "")
    text = TEXT.get(language, DEFAULT) if step.text is None else step.text
    answer = {"text": text, "duration": round(seconds, 3)} | ({"language": language} if language else {})
    return await played(request, step, json.dumps(answer).encode(), "application/json")
