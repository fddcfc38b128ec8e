"""The chat of the running event loop."""

import asyncio
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings

from providers.chat import Chat


@dataclass(frozen=True, slots=True)
class Made:
    """A Chat, and the settings that it was made from."""

    chat: Chat
    wanted: tuple[Any, ...]


# A client's connections belong to one loop, so each loop has a Chat of its own.
_made: WeakKeyDictionary[asyncio.AbstractEventLoop, Made] = WeakKeyDictionary()
_lock = Lock()


def chat() -> Chat:
    """The one Chat of the running event loop, made from the settings: at its first use, and anew when they change."""
    loop, wanted = asyncio.get_running_loop(), _wanted()
    with _lock:
        made = _made.get(loop)
        if made is None or made.wanted != wanted:
            _forget_closed()
            made = _made[loop] = Made(Chat.from_settings(), wanted)
        return made.chat


async def aclose_chat() -> None:
    """Close the running loop's Chat, if it has one; to be called before a loop ends."""
    with _lock:
        ended = _made.pop(asyncio.get_running_loop(), None)
    if ended is not None:
        await ended.chat.aclose()


def _wanted() -> tuple[Any, ...]:
    return dict(settings.CHAT), dict(settings.CHAT_TIMEOUTS), settings.CHAT_RETRIES


def _forget_closed() -> None:
    # Open connections point back at their loop, so weakness alone would keep a closed loop's Chat alive.
    for loop in [loop for loop in _made if loop.is_closed()]:
        del _made[loop]
