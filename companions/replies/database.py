"""Visits to the database from the event loop: one thread and one connection each, given back at the end.

Outside such visits all asynchronous ORM calls of a process would share one database thread.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

P = ParamSpec("P")
T = TypeVar("T")


async def visit(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function gives back, run in a worker thread with a connection of its own."""
    return await database_sync_to_async(function, thread_sensitive=False)(*args, **kwargs)
