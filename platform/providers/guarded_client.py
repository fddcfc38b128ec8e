"""The guard of the clients that ask what people gave an address of: `guarded_http`, for the SDK and for streams.

Before each request the host is looked up and its numbers are checked; the connection goes to one of these, with the
host's own name and certificate, whatever the name stands for a moment later. There is no redirect and no proxy.
"""

import asyncio
from typing import Any

import httpx2

from providers.guarded_http import OutboundError, Resolve, choose_number, parse_address, resolve_host


def build_guard(resolve: Resolve = resolve_host) -> dict[str, Any]:
    """Return the arguments of an asynchronous client with which it asks through the guard."""

    async def pin_address(request: httpx2.Request) -> None:
        """Have the request go to a number that was checked; OutboundError where nobody may ask there."""
        parts, host = parse_address(str(request.url)), request.url.host
        number = await asyncio.to_thread(choose_number, parts, resolve)
        request.url = request.url.copy_with(scheme=parts.scheme, host=number, port=parts.port)
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.headers["Accept-Encoding"] = "identity"

    return {
        "event_hooks": {"request": [pin_address], "response": [_refuse_packed]},
        "trust_env": False,
        "follow_redirects": False,
    }


async def _refuse_packed(response: httpx2.Response) -> None:
    """Raise OutboundError where the body is packed: a little of it may become more than there is memory."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise OutboundError("packed", "Its answers are packed, which are not unpacked from here.")
