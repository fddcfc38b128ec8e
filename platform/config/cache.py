"""The cache, e.g. for the rate limits of sign-in and sign-up: in Redis, or in this process while Redis is away."""

import time
from contextlib import suppress
from typing import Any

import orjson
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

AWAY_SECONDS = 5.0
LOCAL_ENTRIES = 10_000


class JSONSerializer:
    """Stores values as JSON: unlike a pickle, a value that is read from Redis cannot run code."""

    def dumps(self, value: object) -> bytes:
        return orjson.dumps(value)

    def loads(self, text: bytes) -> Any:
        return orjson.loads(text)


class RedisOrLocalCache(RedisCache):
    """Django's Redis cache, which falls back to this process's memory while Redis does not answer.

    Rate limits go on that way, in each process by itself. After a failure Redis is not asked for AWAY_SECONDS, so that
    nobody who signs in waits for it at every call.
    """

    away_until = float("-inf")

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        options = {**params, "OPTIONS": {"MAX_ENTRIES": LOCAL_ENTRIES}}
        self._local = LocMemCache("while-redis-is-away", options)

    def add(
        self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return bool(self._ask("add", key, value, timeout, version))

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        return self._ask("get", key, default, version)

    def set(
        self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._ask("set", key, value, timeout, version)

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(self._ask("delete", key, version))

    def clear(self) -> None:
        """Delete the cache's keys alone; Django's own `clear` would drop everything in the Redis database."""
        with suppress(RedisError):
            client = self._cache.get_client(write=True)
            for key in client.scan_iter(f"{self.key_prefix}:*"):
                client.delete(key)
        self._local.clear()

    def _ask(self, method: str, *arguments: Any) -> Any:
        if time.monotonic() >= type(self).away_until:
            try:
                return getattr(super(), method)(*arguments)
            except RedisError:
                type(self).away_until = time.monotonic() + AWAY_SECONDS
        return getattr(self._local, method)(*arguments)
