"""/control/sound: how a test scripts voice and ears and sees what they were sent; absent in ordinary use."""

from json import JSONDecodeError

from aiohttp import web

from providers.rehearsal.sound.script import SoundStep
from providers.rehearsal.state import STATE


async def script(request: web.Request) -> web.Response:
    """Add steps, or answer 400 with what is wrong with them."""
    try:
        steps = [SoundStep.read(step) for step in await request.json()]
    except (JSONDecodeError, ValueError, TypeError) as wrong:
        return web.json_response({"error": {"message": str(wrong)}}, status=400)
    request.app[STATE].sound.steps.extend(steps)
    return web.json_response({"steps": len(request.app[STATE].sound.steps)})


async def requests(request: web.Request) -> web.Response:
    """The last requests for sound as they came, oldest first."""
    return web.json_response({"requests": list(request.app[STATE].sound.requests)})


ROUTES = [web.post("/control/sound", script), web.get("/control/sound", requests)]
