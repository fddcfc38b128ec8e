"""An event loop in a thread of its own, for whoever waits in none: connections are kept from one call to the next."""

import asyncio
import os
from collections.abc import Coroutine
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")

_loops: list[asyncio.AbstractEventLoop] = []  # none or one
_lock = Lock()
# A child of a fork has no thread but the one that forked: it starts a loop of its own.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=lambda: _renew())


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives or raises, for which the calling thread has waited; left, it is cancelled."""
    doing = asyncio.run_coroutine_threadsafe(work, _running())
    try:
        return doing.result()
    except BaseException:
        doing.cancel()
        raise


def _running() -> asyncio.AbstractEventLoop:
    with _lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            Thread(target=loop.run_forever, name="asking", daemon=True).start()
            _loops.append(loop)
        return _loops[0]


def _renew() -> None:
    _loops.clear()
    _lock.release()
