"""The answer to a request that the server cannot read."""

import json

from aiohttp import web


def refuse(message: str) -> web.HTTPBadRequest:
    """Return a server's answer to an invalid request, to be raised."""
    error = {"message": message, "type": "invalid_request_error"}
    return web.HTTPBadRequest(text=json.dumps({"error": error}), content_type="application/json")
