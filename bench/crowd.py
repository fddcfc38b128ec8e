"""python -m bench.crowd: 500 event streams and 500 sockets of 100 people at once, on one web process."""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import psutil
from websockets.asyncio.client import ClientConnection, connect

from bench.common.command import machine
from tests.fixtures.embedded import Embedded
from tests.fixtures.live import Live

PEOPLE, EACH = 100, 5
ALL_OPEN_SECONDS = 600


@dataclass
class Seen:
    """What came of it all; times in seconds."""

    statuses: Counter[int] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    opened: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crowd", description=__doc__)
    parser.add_argument("--people", type=int, default=PEOPLE)
    wanted = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(prefix="kith-crowd-") as home:
        folder = Path(home)
        folder.chmod(0o755)
        with Embedded(folder / "services", durable=False) as services:
            os.environ |= {"DATABASE_URL": services.database_url, "REDIS_URL": services.redis_url}
            with Crowded(folder, "crowd") as live:
                people = [(token, companion_id) for _, token, companion_id in live.people(wanted.people + 1)]
                asyncio.run(_measure(live, people))
                print(f"warnings and errors of Kith's: {_complaints(folder / 'web.log')}")


def _complaints(log: Path) -> dict[str, int]:
    """How often Kith's log says that something went wrong, the most frequent first."""
    told = Counter[str]()
    for line in log.read_text(errors="replace").splitlines():
        if not line.startswith("{"):
            told[line[:120]] += not line.startswith((" ", "INFO"))
        elif (entry := json.loads(line)).get("level") in {"warning", "error", "critical"}:
            told[str(entry.get("event"))[:120]] += 1
    return dict(told.most_common(12))


class Visitor:
    """Somebody at an address of their own."""

    def __init__(self, number: int, url: str, token: str, companion_id: str) -> None:
        self.address, self.companion_id = f"127.0.{number // 200}.{number % 200 + 1}", companion_id
        self.headers = {"Authorization": f"Bearer {token}"}
        self.socket_url = f"{url.replace('http', 'ws')}/ws/companions/{companion_id}/"
        # where the transport is given, the limits are its own
        unlimited = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        way = httpx2.AsyncHTTPTransport(local_address=self.address, limits=unlimited)
        self.client = httpx2.AsyncClient(
            base_url=url, headers=self.headers, timeout=ALL_OPEN_SECONDS, transport=way
        )


class Crowded(Live):
    """Kith with its own settings, as `make up` would start it."""

    @property
    def environment(self) -> dict[str, str]:
        mine = {"DATABASE_POOL": "24", "KITH_MESSAGES_PER_MINUTE": "30"}
        return {**super().environment, **mine, "LLM_RETRIES": "2", "LLM_CONNECT_SECONDS": "5"}

    @property
    def memory_mb(self) -> float:
        assert self._web is not None
        return float(psutil.Process(self._web.pid).memory_info().rss) / 1_000_000


async def _measure(live: Crowded, people: Sequence[tuple[str, str]]) -> None:
    """Open all sockets, then all streams, and look in as somebody else all the while."""
    seen, before = Seen(), live.memory_mb
    somebody, *crowd = [Visitor(number, live.url, *one) for number, one in enumerate(people)]
    looking = asyncio.create_task(_look_in(somebody, seen))
    sockets = await asyncio.gather(*(_open(one, seen) for one in crowd for _ in range(EACH)))
    reading = [asyncio.create_task(_read(one)) for one in sockets]
    with_sockets = live.memory_mb
    await asyncio.gather(*(_stream(one, seen) for one in crowd for _ in range(EACH)))
    with_streams = live.memory_mb
    closed = Counter(one.close_code for one in sockets if one.close_code)
    for task in (looking, *reading):
        task.cancel()
    await asyncio.gather(*(one.close() for one in sockets))
    print(
        f"sockets open in the end: {len(sockets) - closed.total()} of {len(sockets)}; closed: {dict(closed)}"
    )
    print(f"streams: statuses {dict(seen.statuses)}, ends {dict(seen.ends)}")
    for name, seconds in (
        ("a socket opens", seen.opened),
        ("first event of a stream", seen.first),
        ("whole stream", seen.whole),
        ("GET /companions of somebody else meanwhile", seen.others),
    ):
        cuts = statistics.quantiles(seconds, n=20)
        told = f"median {statistics.median(seconds):.2f}, p95 {cuts[18]:.2f}, most {max(seconds):.2f}"
        print(f"{name}, seconds: {told} ({len(seconds)})")
    memory = f"{before:.0f} before, {with_sockets:.0f} with sockets, {with_streams:.0f} after the streams"
    print(f"memory of the web process, MB: {memory}")


async def _open(one: Visitor, seen: Seen) -> ClientConnection:
    began = time.perf_counter()
    socket = await connect(
        one.socket_url,
        additional_headers=one.headers,
        open_timeout=ALL_OPEN_SECONDS,
        ping_timeout=None,
        local_addr=(one.address, 0),
    )
    seen.opened.append(time.perf_counter() - began)
    return socket


async def _read(socket: ClientConnection) -> None:
    """Take what comes, as a page does: whoever does not read is cut off."""
    async for _frame in socket:
        pass


async def _stream(one: Visitor, seen: Seen) -> None:
    began, last = time.perf_counter(), ""
    body: dict[str, Any] = {"text": "Tell me something.", "client_id": str(uuid4())}
    path = f"/api/v1/companions/{one.companion_id}/messages"
    async with one.client.stream(
        "POST", path, headers={"Accept": "text/event-stream"}, json=body
    ) as response:
        seen.statuses[response.status_code] += 1
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                if not last:
                    seen.first.append(time.perf_counter() - began)
                last = line.removeprefix("event: ")
    seen.ends[last] += 1
    seen.whole.append(time.perf_counter() - began)


async def _look_in(one: Visitor, seen: Seen) -> None:
    while True:
        began = time.perf_counter()
        response = await one.client.get("/api/v1/companions")
        seen.others.append(time.perf_counter() - began)
        if response.status_code != 200:
            print(f"somebody else was answered {response.status_code}")
        await asyncio.sleep(0.2)


if __name__ == "__main__":
    main()
