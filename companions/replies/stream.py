"""A reply's frames in Redis: a stream each, kept an hour, from which any web process serves a resume.

A frame with a number (`seq`: pieces and thoughts, from 1) has the stream id `seq-0`; those between carry the
number before them and a counter, so that what follows a given piece is one range.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID
from weakref import WeakKeyDictionary

import orjson
from django.conf import settings
from redis.asyncio import Redis

Frame = dict[str, object]
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Redis] = WeakKeyDictionary()


def client() -> Redis:
    """The Redis client of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5)
    return _clients[loop]


def key_of(reply_id: UUID | str) -> str:
    return f"kith:reply:{reply_id}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A frame on its way: its place in the stream, and its JSON."""

    place: str
    seq: int | None
    json: str


def entry(frame: Frame, seq: int, between: int) -> Entry:
    number = frame.get("seq")
    return Entry(
        f"{seq}-{between}", number if isinstance(number, int) else None, orjson.dumps(frame).decode()
    )


async def write(reply_id: UUID, entries: Sequence[Entry]) -> None:
    """Append the entries; the stream's hour begins anew. An entry that is there already stays as it is."""
    pipe = client().pipeline(transaction=False)
    for one in entries:
        pipe.xadd(key_of(reply_id), {"f": one.json}, id=one.place)
    pipe.expire(key_of(reply_id), settings.PIECES_KEPT)
    for result in await pipe.execute(raise_on_error=False):
        if isinstance(result, Exception) and "equal or smaller" not in str(result):
            raise result


async def read(reply_id: UUID, after: int) -> list[str]:
    """The frames, as JSON, that follow piece `after` (0: all)."""
    start = f"({after}-0" if after else "-"
    entries: list[tuple[bytes, dict[bytes, bytes]]] = await client().xrange(key_of(reply_id), min=start)  # type: ignore[assignment]
    return [fields[b"f"].decode() for _, fields in entries]


async def forget(reply_ids: Sequence[UUID]) -> None:
    if reply_ids:
        await client().delete(*map(key_of, reply_ids))


def pieces_in(frames: Sequence[str], after: int) -> list[Frame]:
    """The numbered frames among these that come after piece `after`, in order."""
    read_frames = (orjson.loads(frame) for frame in frames)
    return [
        frame
        for frame in read_frames
        if isinstance(frame.get("seq"), int) and frame["seq"] > after and "text" in frame
    ]
