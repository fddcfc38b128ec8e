"""The cache, which holds the limits of sign-in and sign-up: in Redis, and in this process while Redis is away."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import orjson
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

AWAY_SECONDS = 5.0
LOCAL_ENTRIES = 10_000
T = TypeVar("T")


class JSONSerializer:
    """Values as JSON: what lies in Redis can run nothing here, as a pickle could."""

    def dumps(self, value: object) -> bytes:
        return orjson.dumps(value)

    def loads(self, text: bytes) -> Any:
        return orjson.loads(text)


class RedisOrLocalCache(RedisCache):
    """Redis' cache, shared and lasting; whatever is asked while Redis does not answer is kept in this process.

    Limits go on so, each process by itself. A Redis that was away is left alone for AWAY_SECONDS, for nobody who
    signs in should wait for it at each question.
    """

    away_until = float("-inf")

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._local = LocMemCache(
            "while-redis-is-away", {**params, "OPTIONS": {"MAX_ENTRIES": LOCAL_ENTRIES}}
        )

    def add(
        self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return self._ask(
            lambda: super(RedisOrLocalCache, self).add(key, value, timeout, version),
            lambda: self._local.add(key, value, timeout, version),
        )

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        return self._ask(
            lambda: super(RedisOrLocalCache, self).get(key, default, version),
            lambda: self._local.get(key, default, version),
        )

    def set(
        self, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._ask(
            lambda: super(RedisOrLocalCache, self).set(key, value, timeout, version),
            lambda: self._local.set(key, value, timeout, version),
        )

    def delete(self, key: str, version: int | None = None) -> bool:
        return self._ask(
            lambda: super(RedisOrLocalCache, self).delete(key, version),
            lambda: self._local.delete(key, version),
        )

    def clear(self) -> None:
        """Forget what is cached, and leave alone what else lies in Redis, which Django's own would drop."""
        self._ask(self._clear_redis, lambda: None)
        self._local.clear()

    def _clear_redis(self) -> None:
        client = self._cache.get_client(write=True)
        for key in client.scan_iter(f"{self.key_prefix}:*"):
            client.delete(key)

    def _ask(self, redis: Callable[[], T], local: Callable[[], T]) -> T:
        if time.monotonic() >= type(self).away_until:
            try:
                return redis()
            except RedisError:
                type(self).away_until = time.monotonic() + AWAY_SECONDS
        return local()
