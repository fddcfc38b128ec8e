"""The life of a web process: replies are looked after from its start, and drained at its end."""

import asyncio
import contextvars
import gc
import resource
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.utils import timezone

from companions.replies.pulse import beat_on, drain, hear_stops
from providers.clients import aclose_chat
from providers.connections import aclose_client

Message = MutableMapping[str, Any]
# Python's 700, 10, 10 stops all streams of a busy process for 50 ms every other second.
COLLECT_AT = (20_000, 20, 50)
# Python would take six on two cores: too few to wait for a database and look at anything else besides.
THREADS = 32
MOST_OPEN_FILES = 65_536


def _open_many_files() -> None:
    """Raise the number of files and connections that this process may have open to what the machine lets it."""
    _soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, MOST_OPEN_FILES), most))


class Lifespan:
    """The part of ASGI that Django's own application refuses."""

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        await receive()
        _spare_the_collector()
        _open_many_files()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="visit"))
        cares = [
            loop.create_task(care, context=contextvars.Context())
            for care in (beat_on(timezone.now), hear_stops())
        ]
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await drain()
        for care in cares:
            care.cancel()
        await aclose_chat()
        await aclose_client()
        await send({"type": "lifespan.shutdown.complete"})


def _spare_the_collector() -> None:
    """Let it look no more at what was imported, and seldom at the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AT)
