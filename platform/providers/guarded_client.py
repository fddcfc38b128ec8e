"""The guard of the clients that ask people's own models: `guarded_http`, for the SDK and for streams.

Before each request the host is looked up and its numbers are checked; the connection goes to one of these, with the
host's own name and certificate, whatever the name stands for a moment later. There is no redirect and no proxy.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
from django.conf import settings

from providers.guarded_http import OutboundError, Resolve, choose_number, parse_address, resolve_host

# Not the loop's own threads, in which the database is waited for: a name's server may be as slow as its owner likes.
LOOKUPS = ThreadPoolExecutor(4, thread_name_prefix="lookup")


def build_guard(resolve: Resolve = resolve_host) -> dict[str, Any]:
    """Return the arguments of an asynchronous client with which it asks through the guard."""

    async def pin_address(request: httpx2.Request) -> None:
        """Have the request go to a number that was checked; OutboundError where nobody may ask there."""
        allowed, host = settings.OWN_PROVIDERS_ALLOWED, request.url.host
        parts = parse_address(str(request.url), allowed)
        loop = asyncio.get_running_loop()
        number = await loop.run_in_executor(LOOKUPS, choose_number, parts, resolve, allowed)
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
