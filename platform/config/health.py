"""`GET /livez`, `/readyz` and `/healthz`: whether this process lives, can serve, and what answers it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import redis
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from config.celery import BEAT_KEY, WORKER_KEY
from jobs.background import in_thread, one_per_loop
from providers.clients import get_chat_client
from providers.selection import get_provider

NEEDED = ("database", "redis")
TIMEOUT_SECONDS = 2.0
REDIS_DOWN = {"redis": False, "worker": False, "beat": False}
CHAT_PROBE_SECONDS = 5.0
T = TypeVar("T")


def _is_database_up() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _check_redis() -> dict[str, bool]:
    """Return whether Redis answers, and whether worker and beat have left their sign of life there."""
    try:
        with redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
        ) as client:
            return {
                "redis": True,
                "worker": bool(client.exists(WORKER_KEY)),
                "beat": bool(client.exists(BEAT_KEY)),
            }
    except (redis.RedisError, OSError):
        return REDIS_DOWN


async def _within(seconds: float, function: Callable[[], T], otherwise: T) -> T:
    try:
        return await asyncio.wait_for(database_sync_to_async(function, thread_sensitive=False)(), seconds)
    except TimeoutError:
        return otherwise


def _describe(found: dict[str, bool]) -> dict[str, str]:
    return {
        name: "ok" if is_up else "down" if name in NEEDED else "degraded" for name, is_up in found.items()
    }


class ChatProbe:
    """Whether the chat provider answers, asked at most once in CHAT_PROBE_SECONDS, however many want to know."""

    def __init__(self, ask: Callable[[], Awaitable[bool]]) -> None:
        self._ask = ask
        self._asked_at = float("-inf")
        self._answer: asyncio.Future[bool] | None = None

    async def is_up(self, now: float) -> bool:
        """Return the last answer, or ask anew; `now` is in seconds of a clock that never goes back."""
        if self._answer is None or now - self._asked_at >= CHAT_PROBE_SECONDS:
            self._asked_at, self._answer = now, asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._answer)  # who goes meanwhile leaves the others their answer


@one_per_loop
def chat_probe() -> ChatProbe:
    """Return the probe of the running event loop, of which a web process has one."""
    return ChatProbe(_is_chat_up)


async def _is_chat_up() -> bool:
    provider = await in_thread(get_provider)
    return not provider.has_lost_key and await get_chat_client(provider).is_up()


async def _check_stores() -> dict[str, bool]:
    database, signs = await asyncio.gather(
        _within(TIMEOUT_SECONDS * 2, _is_database_up, False),
        _within(TIMEOUT_SECONDS * 2, _check_redis, REDIS_DOWN),
    )
    return {"database": database, **signs}


async def checks() -> dict[str, str]:
    """Return each part with `ok`, `degraded` or `down`."""
    stores, is_chat_up = await asyncio.gather(_check_stores(), chat_probe().is_up(time.monotonic()))
    return _describe({**stores, "chat": is_chat_up})


async def livez(request: HttpRequest) -> HttpResponse:
    """Answer 200 as long as this process answers at all; nothing else is asked."""
    return HttpResponse("ok", content_type="text/plain")


async def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 where database and Redis answer, else 503; nobody outside is asked."""
    found = await _check_stores()
    return _answer(_describe({name: found[name] for name in NEEDED}))


async def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 with `ok` or `degraded`, 503 with `down` where database or Redis does not answer."""
    return _answer(await checks())


def _answer(checks: dict[str, str]) -> JsonResponse:
    words = set(checks.values())
    status = "down" if "down" in words else "degraded" if "degraded" in words else "ok"
    return JsonResponse({"status": status, "checks": checks}, status=503 if status == "down" else 200)
