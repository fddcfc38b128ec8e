"""The clients of the running event loop: a client's connections belong to one loop, so each loop has its own."""

import asyncio
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from django.conf import settings

if TYPE_CHECKING:
    import httpx2

    from providers.chat.client import ChatClient


@dataclass
class _LoopClients:
    chat: "ChatClient | None" = None
    chat_settings: tuple[Any, ...] = field(default=())  # that it was made from
    http: "httpx2.AsyncClient | None" = None


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClients] = WeakKeyDictionary()
_lock = Lock()


def get_chat_client() -> "ChatClient":
    """Return the running loop's chat client, made at its first use, and anew when the settings change."""
    from providers.chat.client import ChatClient  # the SDK takes most of a second to load

    wanted = dict(settings.CHAT), dict(settings.CHAT_TIMEOUTS), settings.CHAT_RETRIES
    clients = _of_running_loop()
    if clients.chat is None or clients.chat_settings != wanted:
        clients.chat, clients.chat_settings = ChatClient.from_settings(), wanted
    return clients.chat


def get_http_client() -> "httpx2.AsyncClient":
    """Return the running loop's client for sound; it has no time-out of its own, whoever asks gives one."""
    import openai

    clients = _of_running_loop()
    if clients.http is None:
        clients.http = openai.DefaultAioHttpClient(timeout=None)
    return clients.http


async def aclose_clients() -> None:
    """Close the running loop's clients, if it has any; to be called before a loop ends."""
    with _lock:
        clients = _clients.pop(asyncio.get_running_loop(), _LoopClients())
    for client in (clients.chat, clients.http):
        if client is not None:
            await client.aclose()


def _of_running_loop() -> _LoopClients:
    with _lock:
        # Open connections point back at their loop, so weakness alone would keep a closed loop's clients alive.
        for loop in [loop for loop in _clients if loop.is_closed()]:
            del _clients[loop]
        return _clients.setdefault(asyncio.get_running_loop(), _LoopClients())
