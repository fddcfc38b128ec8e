"""A context of its own for each request and socket."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any

Application = Callable[[Any, Any, Any], Awaitable[None]]


class OwnContext:
    """Serves each request and socket in an empty context.

    The web server begins a pipelined request within the one before, and one that comes after a large body perhaps within
    that. It would have the other's person, language and thread, which ends with the other: whatever database connection
    it took there would be lost to the pool.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        served = self._serve(scope, receive, send)
        await asyncio.get_running_loop().create_task(served, context=contextvars.Context())

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        await self._application(scope, receive, send)
