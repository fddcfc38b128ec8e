"""The guard for clients that ask people's own models: the rules of `guarded_http` for the SDK's asynchronous client.

Before each request the host is resolved and its IP addresses are checked. The connection goes to one of these, with the
host's own name and certificate, even if the name resolves to another a moment later. No redirects, no proxies.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
from django.conf import settings

from providers.http.guarded_http import OutboundError, Resolve, choose_ip_address, parse_address, resolve_host

# Not the loop's default executor, whose threads serve the database: a hostile name server may be arbitrarily slow.
LOOKUPS = ThreadPoolExecutor(4, thread_name_prefix="lookup")


def build_guard(resolve: Resolve = resolve_host) -> dict[str, Any]:
    """Return the arguments of an asynchronous client that make it ask through the guard."""

    async def pin_address(request: httpx2.Request) -> None:
        """Send the request to an IP address that was checked. Raise OutboundError if the address may not be asked."""
        allowed, host = settings.OWN_PROVIDERS_ALLOWED, request.url.host
        parts = parse_address(str(request.url), allowed)
        loop = asyncio.get_running_loop()
        ip_address = await loop.run_in_executor(LOOKUPS, choose_ip_address, parts, resolve, allowed)
        request.url = request.url.copy_with(scheme=parts.scheme, host=ip_address, port=parts.port)
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.headers["Accept-Encoding"] = "identity"

    return {
        "event_hooks": {"request": [pin_address], "response": [_refuse_packed]},
        "trust_env": False,
        "follow_redirects": False,
    }


async def _refuse_packed(response: httpx2.Response) -> None:
    """Raise OutboundError if the body is compressed: a small one may unpack to more than there is memory."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise OutboundError("packed", "Its answers are packed, which are not unpacked from here.")
