"""One making of the same thing for all who ask while it is made; when the last of them leaves, it is given up."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Any]
    waiting: int = 0


_flights: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, _Flight]] = WeakKeyDictionary()


async def make_once(key: Hashable, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what `make` gives, or what another's call under way for this key does."""
    loop = asyncio.get_running_loop()
    flights = _flights.setdefault(loop, {})
    if key not in flights:
        flights[key] = _Flight(loop.create_task(make(), context=contextvars.Context()))
    flight = flights[key]
    flight.waiting += 1
    try:
        return await asyncio.shield(flight.task)
    finally:
        flight.waiting -= 1
        if not flight.waiting:
            flight.task.cancel()
        if (flight.task.done() or not flight.waiting) and flights.get(key) is flight:
            del flights[key]
