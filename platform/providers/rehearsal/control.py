"""/control/*: how a test scripts the rehearsal model and sees what it was sent; absent in ordinary use."""

from json import JSONDecodeError

from aiohttp import web

from providers.rehearsal.script import Step
from providers.rehearsal.state import STATE


async def script(request: web.Request) -> web.Response:
    """Add steps, or answer 400 with what is wrong with them."""
    try:
        wanted = await request.json()
        steps = [Step.read(step) for step in (wanted if isinstance(wanted, list) else wanted["steps"])]
    except (JSONDecodeError, KeyError, ValueError, TypeError) as wrong:
        return web.json_response({"error": {"message": str(wrong)}}, status=400)
    request.app[STATE].script.add(steps)
    return web.json_response({"steps": len(request.app[STATE].script)})


async def reset(request: web.Request) -> web.Response:
    """Forget the script, the ledger and the requests."""
    state = request.app[STATE]
    state.script.clear()
    state.ledger.clear()
    state.requests.clear()
    state.sound.clear()
    return web.json_response({})


async def ledger(request: web.Request) -> web.Response:
    """Every chat request with the tokens counted for it, oldest first."""
    return web.json_response({"calls": [call.as_json() for call in request.app[STATE].ledger]})


async def requests(request: web.Request) -> web.Response:
    """The last chat requests as they came, oldest first."""
    return web.json_response({"requests": list(request.app[STATE].requests)})


ROUTES = [
    web.post("/control/script", script),
    web.post("/control/reset", reset),
    web.get("/control/ledger", ledger),
    web.get("/control/requests", requests),
]
