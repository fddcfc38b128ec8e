"""`GET /healthz`: what answers and what does not."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import redis
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

from config.tasks import BEAT_KEY, WORKER_KEY
from providers.clients import chat

NEEDED = ("database", "redis")
SECONDS = 2.0
T = TypeVar("T")


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _redis() -> dict[str, bool]:
    """Whether Redis answers, and whether worker and beat have left their sign of life there."""
    try:
        with redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
        ) as client:
            return {
                "redis": True,
                "worker": bool(client.exists(WORKER_KEY)),
                "beat": bool(client.exists(BEAT_KEY)),
            }
    except (redis.RedisError, OSError):
        return {"redis": False, "worker": False, "beat": False}


async def _within(seconds: float, function: Callable[[], T], otherwise: T) -> T:
    try:
        return await asyncio.wait_for(database_sync_to_async(function, thread_sensitive=False)(), seconds)
    except TimeoutError:
        return otherwise


def _word(name: str, is_up: bool) -> str:
    return "ok" if is_up else "down" if name in NEEDED else "degraded"


async def checks() -> dict[str, str]:
    """Each part with `ok`, `degraded` or `down`."""
    nothing = {"redis": False, "worker": False, "beat": False}
    database, signs, is_chat_up = await asyncio.gather(
        _within(SECONDS * 2, _database, False), _within(SECONDS * 2, _redis, nothing), chat().is_up()
    )
    parts = {"database": database, **signs, "chat": is_chat_up}
    return {name: _word(name, is_up) for name, is_up in parts.items()}


async def healthz(request: HttpRequest) -> JsonResponse:
    """200 with `ok` or `degraded`, 503 with `down` where database or Redis does not answer."""
    found = await checks()
    return JsonResponse(_answer(found), status=503 if "down" in found.values() else 200)


def _answer(checks: dict[str, str]) -> dict[str, Any]:
    words = set(checks.values())
    status = "down" if "down" in words else "degraded" if "degraded" in words else "ok"
    return {"status": status, "checks": checks}
