"""The cache, which holds the limits of sign-in and sign-up: in Redis, and in this process while Redis is away."""

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
        """Forget what is cached, and leave alone what else lies in Redis, which Django's own would drop."""
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
