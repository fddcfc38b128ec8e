"""Visits to the database from the event loop: one thread and one connection each, given back at the end.

Outside such visits all asynchronous ORM calls of a process would share one database thread.
"""

import asyncio
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.db import InterfaceError, OperationalError

AWAY = (OperationalError, InterfaceError)
"""What is raised while the database does not answer, and where it chose one of two that wait for each other."""
PATIENCE_SECONDS = 60.0
RETRY_SECONDS = 0.5

P = ParamSpec("P")
T = TypeVar("T")


async def visit(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function gives back, run in a worker thread with a connection of its own."""
    return await database_sync_to_async(function, thread_sensitive=False)(*args, **kwargs)


async def insist(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same, tried again while the database is away; the function may run twice, so it is one transaction."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return await visit(function, *args, **kwargs)
        except AWAY:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(RETRY_SECONDS)
