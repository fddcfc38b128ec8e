"""One making of the same thing for all who ask while it is made; when the last of them leaves, it is given up."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


@dataclass(slots=True)
class Shared:
    """What is being made, and how many wait for it."""

    task: asyncio.Task[Any]
    waiting: int = 0


_making: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, Shared]] = WeakKeyDictionary()


async def shared(key: Hashable, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What `make` gives, or what another's that is under way for this key does."""
    loop = asyncio.get_running_loop()
    making = _making.setdefault(loop, {})
    if key not in making:
        making[key] = Shared(loop.create_task(make(), context=contextvars.Context()))
    one = making[key]
    one.waiting += 1
    try:
        return await asyncio.shield(one.task)
    finally:
        one.waiting -= 1
        if not one.waiting:
            one.task.cancel()
        if (one.task.done() or not one.waiting) and making.get(key) is one:
            del making[key]
