"""The HTTP clients of each event loop, since connections belong to one loop.

Callers outside any loop use a background loop, which runs in a thread of its own.
"""

import asyncio
import atexit
import os
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import cache
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from django.conf import settings

from jobs import background

if TYPE_CHECKING:
    import httpx2

    from providers.chat.client import ChatClient
    from providers.chat_provider import ChatProvider

T = TypeVar("T")
IDLE_SECONDS = 3600.0  # longer than any answer takes


@dataclass
class _LoopClients:
    chats: "dict[object, ChatClient]" = field(default_factory=dict)  # keyed by what each was made from
    used_at: dict[object, float] = field(default_factory=dict)
    http: "httpx2.AsyncClient | None" = None


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClients] = WeakKeyDictionary()
_lock = Lock()


def get_chat_client(provider: "ChatProvider", clock: Callable[[], float] = time.monotonic) -> "ChatClient":
    """Return the running loop's client of the provider, made at its first use.

    Making a client closes those of the loop that were unused for IDLE_SECONDS, e.g. one made with a replaced key.
    Raise ProviderRefused if the provider's key cannot be decrypted.
    """
    from providers.chat.client import ChatClient, Timeouts  # the SDK takes most of a second to load

    timeouts = Timeouts(**settings.CHAT_TIMEOUTS, retries=settings.CHAT_RETRIES)
    api_key = provider.require_key()
    clients, now = _of_running_loop(), clock()
    made_from = provider.user_id, provider.base_url, provider.model, api_key, timeouts
    if made_from not in clients.chats:
        for idle in [key for key, used_at in clients.used_at.items() if now - used_at > IDLE_SECONDS]:
            del clients.used_at[idle]
            background.run_in_background(clients.chats.pop(idle).aclose())
        clients.chats[made_from] = ChatClient(
            provider.base_url, api_key, provider.model, timeouts, is_guarded=provider.is_own
        )
    clients.used_at[made_from] = now
    return clients.chats[made_from]


def get_http_client() -> "httpx2.AsyncClient":
    """Return the running loop's client for speech and transcription. It has no timeout: each request must give one."""
    import openai

    from providers.http.options import cut_error_body_async, get_tls_context

    clients = _of_running_loop()
    if clients.http is None:
        clients.http = openai.DefaultAioHttpClient(
            timeout=None, verify=get_tls_context(), event_hooks={"response": [cut_error_body_async]}
        )
    return clients.http


async def aclose_clients() -> None:
    """Close the running loop's clients, if it has any. Call this before a loop ends."""
    with _lock:
        clients = _clients.pop(asyncio.get_running_loop(), _LoopClients())
    for client in (*clients.chats.values(), clients.http):
        if client is not None:
            await client.aclose()


def _of_running_loop() -> _LoopClients:
    with _lock:
        # Open connections refer to their loop, so that weak keys alone would not free a closed loop's clients.
        for loop in [loop for loop in _clients if loop.is_closed()]:
            del _clients[loop]
        return _clients.setdefault(asyncio.get_running_loop(), _LoopClients())


def run_in_background(work: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the background loop and return its result; cancel it if the calling thread stops waiting.

    The loop and its clients live on, so that their connections are reused from call to call.
    """
    future = asyncio.run_coroutine_threadsafe(work, _start_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


@atexit.register
def close_background_clients() -> None:
    """Close the background loop's clients: their connections, and what they learned about what servers refuse."""
    if _start_loop.cache_info().currsize and _start_loop() in _clients:
        run_in_background(aclose_clients())


@cache
def _start_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="background-loop", daemon=True).start()
    return loop


# A forked child has only the thread that forked, so it starts a background loop of its own.
os.register_at_fork(after_in_child=_start_loop.cache_clear)
