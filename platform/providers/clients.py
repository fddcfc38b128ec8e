"""The chat of the running event loop."""

import asyncio
from threading import Lock
from weakref import WeakKeyDictionary

from providers.chat import Chat

# A client's connections belong to one loop, so each loop has a Chat of its own.
_chats: WeakKeyDictionary[asyncio.AbstractEventLoop, Chat] = WeakKeyDictionary()
_lock = Lock()


def chat() -> Chat:
    """The one Chat of the running event loop, made from the settings at its first use."""
    loop = asyncio.get_running_loop()
    with _lock:
        if loop not in _chats:
            _forget_closed()
            _chats[loop] = Chat.from_settings()
        return _chats[loop]


async def aclose_chat() -> None:
    """Close the running loop's Chat, if it has one; to be called before a loop ends."""
    with _lock:
        ended = _chats.pop(asyncio.get_running_loop(), None)
    if ended is not None:
        await ended.aclose()


def _forget_closed() -> None:
    # Open connections point back at their loop, so weakness alone would keep a closed loop's Chat alive.
    for loop in [loop for loop in _chats if loop.is_closed()]:
        del _chats[loop]
