"""Postgres and Redis for `up`: the person's own where their addresses are given, else the embedded ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import redis

from config.up.ports import find_free_port
from config.up.postgres import Postgres
from config.up.processes import Program
from config.up.terminal import UpError
from config.up.valkey import Valkey

ANSWER_SECONDS = 5


@dataclass(frozen=True)
class Store:
    """One embedded store: what to run, when it is ready, and how the children find it."""

    program: Program
    is_ready: Callable[[], bool]
    environment: Mapping[str, str]


def choose_stores(environment: Mapping[str, str], home: Path, secrets: Mapping[str, str]) -> list[Store]:
    """The stores to start; those given by address are asked instead, and UpError says so where one is silent."""
    stores = []
    if address := environment.get("DATABASE_URL"):
        require_database(address)
    else:
        passwords = secrets["POSTGRES_PASSWORD"], secrets["POSTGRES_ROLE_PASSWORD"]
        database = Postgres(home / "postgres", find_free_port(), passwords[0], role_password=passwords[1])
        stores.append(Store(database.program(), database.is_ready, {"DATABASE_URL": database.url}))
    if address := environment.get("REDIS_URL"):
        require_redis(address)
    else:
        cache = Valkey(home / "redis", find_free_port(), secrets["REDIS_PASSWORD"])
        stores.append(Store(cache.program(), cache.is_ready, {"REDIS_URL": cache.url}))
    return stores


def require_database(address: str) -> None:
    """Raise UpError where no Postgres with pgvector answers there."""
    try:
        with psycopg.connect(address, connect_timeout=ANSWER_SECONDS) as connection:
            found = connection.execute(
                "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
            ).fetchone()
    except psycopg.Error as error:
        raise UpError(f"DATABASE_URL ({_place(address)}) does not answer: {_first_line(error)}") from error
    if found is None:
        raise UpError(f"The Postgres of DATABASE_URL ({_place(address)}) lacks pgvector: install it there.")


def require_redis(address: str) -> None:
    """Raise UpError where no Redis answers there."""
    try:
        with redis.Redis.from_url(
            address, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
        ) as one:
            one.ping()
    except (redis.RedisError, ValueError, OSError) as error:
        raise UpError(f"REDIS_URL ({_place(address)}) does not answer: {_first_line(error)}") from error


def _place(address: str) -> str:
    """Host and port, without the password."""
    return urlsplit(address).netloc.rpartition("@")[2] or "no host in it"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
