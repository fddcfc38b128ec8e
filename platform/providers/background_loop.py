"""An event loop in a thread of its own, for callers that stand in none: connections are kept from call to call."""

import asyncio
import os
from collections.abc import Coroutine
from functools import cache
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Return what the work gives, for which the calling thread waits; the work is cancelled where it is left."""
    future = asyncio.run_coroutine_threadsafe(work, _start_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


@cache
def _start_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="background-loop", daemon=True).start()
    return loop


# A child of a fork has no thread but the one that forked: it starts a loop of its own.
os.register_at_fork(after_in_child=_start_loop.cache_clear)
