"""The rehearsal model's HTTP server."""

from aiohttp import web

from providers.rehearsal.completions import complete
from providers.rehearsal.control import ROUTES
from providers.rehearsal.embeddings import MODEL, embeddings
from providers.rehearsal.sound.routes import CONTROL as SOUND_CONTROL
from providers.rehearsal.sound.routes import ROUTES as SOUND
from providers.rehearsal.state import STATE, State

LARGEST_REQUEST_BYTES = 32 * 1024 * 1024


async def health(_request: web.Request) -> web.Response:
    return web.json_response({"status": "ok"})


async def models(request: web.Request) -> web.Response:
    names = [request.app[STATE].model, MODEL]
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "kith"} for name in names]
    return web.json_response({"object": "list", "data": data})


def build(state: State, *, is_scriptable: bool) -> web.Application:
    """The whole server; /control/* only where it is scriptable."""
    app = web.Application(client_max_size=LARGEST_REQUEST_BYTES)
    app[STATE] = state
    app.add_routes(
        [
            web.get("/health", health),
            web.get("/v1/models", models),
            web.post("/v1/chat/completions", complete),
            web.post("/v1/embeddings", embeddings),
            *SOUND,
        ]
    )
    if is_scriptable:
        app.add_routes([*ROUTES, *SOUND_CONTROL])
    return app
