"""A running Kith whose pool of connections can be counted from outside, and ways to be unkind to it."""

import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import httpx2
import psutil
import psycopg

from providers.http.options import get_tls_context
from tests.fixtures.live import Live
from tests.fixtures.people import PASSWORD

LOOPBACK = "127.0.0.1"
POOL = 8
SHOWN = {"median": 0.5, "p95": 0.95, "most": 1.0}
CONNECTIONS = 250  # that one address may have open
ARRIVALS = 60  # requests of whom it is not yet known
BODIES = 6  # large ones that one address may send at once
SOCKETS = 12  # that one person may have open
WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@dataclass
class Visitor:
    """Somebody with a token and a companion, and what a request of theirs looks like on the wire."""

    email: str
    token: str
    companion_id: str

    @property
    def address(self) -> str:
        """One on this machine, by the number in the e-mail address."""
        return f"127.0.1.{int(self.email.split('@')[0]) + 1}"

    @property
    def path(self) -> str:
        return f"/api/v1/companions/{self.companion_id}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        told = (
            {} if body is None else {"Content-Type": "application/json", "Content-Length": str(len(content))}
        )
        return wire(method, path, {**self.headers, **told, **headers}) + content


def wire(method: str, path: str, headers: dict[str, str]) -> bytes:
    """A request's head as it is sent."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in {"Host": LOOPBACK, **headers}.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()


class Site(Live):
    """Kith with a small pool and little patience; `more` are settings of its environment."""

    def __init__(self, home: Path, database: str) -> None:
        super().__init__(home, database, piece_milliseconds=1)
        self.more = {"KITH_LIMITS": "1"}

    def __enter__(self) -> Self:
        super().__enter__()
        # two requests of each witness are worked on
        self.alice, self.mallory, *self.witnesses = (
            Visitor(*one) for one in self.people(2 + POOL // 2, PASSWORD)
        )
        return self

    def start_with(self, **more: str) -> None:
        """Start the web process again where these settings are others than it has."""
        if more != self.more:
            self.kill_web()
            self.more = more
            self.start_web()

    @property
    def environment(self) -> dict[str, str]:
        quick = {
            "KITH_HTTP_HEAD_SECONDS": "2",
            "KITH_HTTP_BODY_SECONDS": "2",
            "KITH_HTTP_READ_SECONDS": "3",
            "KITH_DRAIN_SECONDS": "1",
        }
        # as many places as connections, so that all of these can be counted
        whole = {"DATABASE_POOL": str(POOL), "KITH_WORK_AT_ONCE": str(POOL)}
        few = {
            "KITH_BODIES_AT_ONCE": str(BODIES),
            "KITH_SOCKETS_AT_ONCE": str(SOCKETS),
            "KITH_CONNECTIONS_AT_ONCE": str(CONNECTIONS),
            "KITH_ARRIVALS_AT_ONCE": str(ARRIVALS),
        }
        return {**super().environment, **whole, **quick, **few, **self.more}

    @property
    def has_limits(self) -> bool:
        return self.more.get("KITH_LIMITS") != "0"

    def fill(self, visitor: Visitor, lines: list[dict[str, str]]) -> None:
        """Give the visitor's companion a past that takes long to read."""
        asked = self.ask("POST", visitor, f"{visitor.path}/import/log", {"messages": lines})
        assert asked.status_code == 202, asked.text

    def ask(self, method: str, visitor: Visitor, path: str, body: Any = None) -> httpx2.Response:
        """Return the answer to the visitor, who asks from an address of their own."""
        transport = httpx2.HTTPTransport(verify=get_tls_context(), local_address=visitor.address)
        with httpx2.Client(
            transport=transport, headers=visitor.headers, timeout=240, trust_env=False
        ) as client:
            return client.request(method, self.url + path, json=body)

    def status(self, method: str, visitor: Visitor, path: str) -> int:
        """The status of the answer; 0 where none came."""
        try:
            return self.ask(method, visitor, path).status_code
        except httpx2.TransportError:
            return 0

    def connect(self, *, receive_bytes: int = 0) -> socket.socket:
        """An open connection; with `receive_bytes` it takes hardly more than that before it is read."""
        opened = socket.socket()
        if receive_bytes:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        opened.settimeout(30)
        opened.connect((LOOPBACK, self.port))
        return opened

    @property
    def threads(self) -> int:
        """How many the web process has."""
        assert self._web is not None
        return psutil.Process(self._web.pid).num_threads()

    def stream(self, visitor: Visitor) -> socket.socket:
        """Say something, and have the answer as an event stream."""
        peer = self.connect()
        body = {"text": "Tell me something.", "client_id": str(uuid4())}
        peer.sendall(visitor.request("POST", f"{visitor.path}/messages", body, Accept="text/event-stream"))
        return peer

    def usable_connections(self) -> int:
        """How many requests can hold a connection to the database at once, counted there: all wait for some rows."""
        asking = [
            threading.Thread(target=self.ask, args=("PATCH", one, one.path, {"name": "Mira"}))
            for one in self.witnesses * (POOL // len(self.witnesses))
        ]
        rows = [one.companion_id for one in self.witnesses]
        with psycopg.connect(self.database_url) as mine:
            mine.execute("SELECT 1 FROM companions_companion WHERE id = ANY(%s) FOR UPDATE", [rows])
            for thread in asking:
                thread.start()
            with psycopg.connect(self.database_url, autocommit=True) as looking:
                eventually(lambda: _counted(looking) == POOL, 20)
                most = _counted(looking)
            mine.rollback()
        for thread in asking:
            thread.join(60)
        return most

    def has_all_connections(self) -> bool:
        """Whether all of them are usable; a busy machine may need longer than a request waits for its rows."""
        return any(self.usable_connections() == POOL for _ in range(3))

    @contextmanager
    def watched(self, visitor: Visitor) -> Iterator[list[int]]:
        """The statuses that another person's list of companions is answered with meanwhile, at first often, then less.

        Prints how long the answers took, for `make prove-attacks`.
        """
        statuses, seconds = list[int](), list[float]()
        over = threading.Event()

        def look() -> None:
            while not over.is_set():
                began = time.perf_counter()
                statuses.append(self.status("GET", visitor, "/api/v1/companions"))
                seconds.append(time.perf_counter() - began)
                time.sleep(min(0.05 * len(statuses), 0.5))

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield statuses
        finally:
            over.set()
            thread.join(60)
            seconds.sort()
            few = {name: f"{seconds[int(share * (len(seconds) - 1))]:.2f}" for name, share in SHOWN.items()}
            print(f"somebody else meanwhile: {dict(Counter(statuses))}, seconds: {few}")  # noqa: T201


def _counted(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute(WAITING).fetchone()
    return int(row[0]) if row else 0


def reset(opened: socket.socket) -> None:
    """End the connection at once, as a peer that vanishes."""
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    opened.close()


def eventually(claim: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether the claim comes true within the time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if claim():
            return True
        time.sleep(0.05)
    return claim()
