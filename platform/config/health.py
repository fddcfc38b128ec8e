"""Health checks: `/livez` (the process runs), `/readyz` (it can serve) and `/healthz` (the state of each part)."""

import asyncio
import shutil
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
from providers.availability import is_failing
from providers.http.clients import get_chat_client
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
    """Return whether Redis answers, and whether worker and beat have left a recent sign of life there."""
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
        async with asyncio.timeout(seconds):
            return await database_sync_to_async(function, thread_sensitive=False)()
    except TimeoutError:
        return otherwise


def _describe(found: dict[str, bool]) -> dict[str, str]:
    return {
        name: "ok" if is_up else "down" if name in NEEDED else "degraded" for name, is_up in found.items()
    }


class ChatProbe:
    """Checks whether the chat provider answers, at most once in CHAT_PROBE_SECONDS for all who ask."""

    def __init__(self, ask: Callable[[], Awaitable[bool]]) -> None:
        self._ask = ask
        self._asked_at = float("-inf")
        self._answer: asyncio.Future[bool] | None = None

    async def is_up(self, now: float) -> bool:
        """Return the last answer, or ask again if it is too old; `now` is in seconds of a monotonic clock."""
        if self._answer is None or now - self._asked_at >= CHAT_PROBE_SECONDS:
            self._asked_at, self._answer = now, asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._answer)  # others may still wait for it if this caller is cancelled


@one_per_loop
def chat_probe() -> ChatProbe:
    """Return the running event loop's probe."""
    return ChatProbe(_is_chat_up)


async def _is_chat_up() -> bool:
    provider = await in_thread(get_provider)
    # /models may answer where the model does not.
    if provider.has_lost_key or await is_failing(provider):
        return False
    return await get_chat_client(provider).is_up()


def _has_room() -> bool:
    """Return whether the disk of KITH_HOME has room, and can be read at all.

    True where the folder is missing, as beside databases elsewhere.
    """
    try:
        return shutil.disk_usage(settings.KITH_HOME).free >= settings.DISK_RESERVE_BYTES
    except FileNotFoundError:
        return True
    except OSError:
        return False


async def _check_stores() -> dict[str, bool]:
    database, signs = await asyncio.gather(
        _within(TIMEOUT_SECONDS * 2, _is_database_up, False),
        _within(TIMEOUT_SECONDS * 2, _check_redis, REDIS_DOWN),
    )
    return {"database": database, **signs}


async def run_checks() -> dict[str, str]:
    """Return the state of each part: `ok`, `degraded`, or `down` for parts without which Kith cannot serve."""
    stores, is_chat_up = await asyncio.gather(_check_stores(), chat_probe().is_up(time.monotonic()))
    return _describe({**stores, "disk": _has_room(), "chat": is_chat_up})


async def livez(request: HttpRequest) -> HttpResponse:
    """Answer 200 as long as this process answers at all; check nothing else."""
    return HttpResponse("ok", content_type="text/plain")


async def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 if database and Redis answer, otherwise 503; check nothing else."""
    found = await _check_stores()
    return _answer(_describe({name: found[name] for name in NEEDED}))


async def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 with `ok` or `degraded`, or 503 with `down` if database or Redis does not answer."""
    return _answer(await run_checks())


def _answer(checks: dict[str, str]) -> JsonResponse:
    words = set(checks.values())
    status = "down" if "down" in words else "degraded" if "degraded" in words else "ok"
    return JsonResponse({"status": status, "checks": checks}, status=503 if status == "down" else 200)
