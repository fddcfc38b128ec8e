"""One HTTP client for each event loop, shared by whoever asks for sound: connections are kept between calls."""

import asyncio
from threading import Lock
from weakref import WeakKeyDictionary

import httpx2
import openai

_open: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = WeakKeyDictionary()
_lock = Lock()


def client() -> httpx2.AsyncClient:
    """The running loop's client; it has no time-out of its own, whoever asks gives one."""
    loop = asyncio.get_running_loop()
    with _lock:
        if loop not in _open:
            for closed in [one for one in _open if one.is_closed()]:
                del _open[closed]
            _open[loop] = openai.DefaultAioHttpClient(timeout=None)
        return _open[loop]


async def aclose_client() -> None:
    """Close the running loop's client, if it has one; to be called before a loop ends."""
    with _lock:
        ended = _open.pop(asyncio.get_running_loop(), None)
    if ended is not None:
        await ended.aclose()
