"""Database work from the event loop: in a worker thread with a connection of its own, which is given back at the end.

Outside of such threads all asynchronous ORM calls of a process would share one database thread, and a request would
hold its connection until its answer has been read.
"""

import asyncio
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.db import InterfaceError, OperationalError, connections

DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
"""What is raised while the database does not answer, and where it chose one of two that wait for each other."""
RETRY_TIMEOUT_SECONDS = 60.0
RETRY_SECONDS = 0.5

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the function returns, called in a worker thread with a connection of its own."""
    return await database_sync_to_async(function, thread_sensitive=False)(*args, **kwargs)


async def in_request_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the function returns, called in the current request's own thread.

    The connection is given back at once, unless it is within a transaction: a request that waits for something else
    afterwards holds none.
    """

    def call() -> T:
        try:
            return function(*args, **kwargs)
        finally:
            for connection in connections.all(initialized_only=True):
                if not connection.in_atomic_block:
                    connection.close_if_unusable_or_obsolete()

    return await sync_to_async(call, thread_sensitive=True)()


async def in_thread_with_retry(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the function returns, called again for a minute while the database is away.

    The function may run twice, so it is one transaction.
    """
    deadline = time.monotonic() + RETRY_TIMEOUT_SECONDS
    while True:
        try:
            return await in_thread(function, *args, **kwargs)
        except DATABASE_UNAVAILABLE:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(RETRY_SECONDS)
