"""A reply's frames in Redis: a stream each, kept an hour, from which any web process serves a resume.

The place of a frame is its id in the stream: `seq-0` for the pieces and thoughts, numbered from 1; those between
carry the number before them and a counter, so that what follows a given piece is one range. The ending stands last
of all. A stream may be sealed: from then on it takes an ending and nothing else, whoever still writes to it.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID
from weakref import WeakKeyDictionary

import orjson
import redis
from django.conf import settings
from redis.asyncio import Redis

Frame = dict[str, object]
LAST = 2**63 - 1
BEHIND = "equal or smaller"  # Redis says so of an entry whose place has been passed
# One command in place of four for each reply: 7 µs of processor time a reply, where a pipeline takes 70.
WRITE = f"""
local at, taken = 2, {{}}
for n, key in ipairs(KEYS) do
  local channel, message, here, count = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local last = ARGV[at + 1 + 3 * count]
  for entry = at + 4, at + 1 + 3 * count, 3 do
    local added = redis.pcall('XADD', key, ARGV[entry], 'f', ARGV[entry + 2], 'n', ARGV[entry + 1])
    if added.err and not added.err:find('{BEHIND}') then return added end
  end
  redis.call('EXPIRE', key, ARGV[1])
  local newest = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1][1]
  taken[n] = (newest == last or newest:sub(1, 20) ~= '{LAST}-') and 1 or 0
  if taken[n] == 1 and redis.call('PUBSUB', 'NUMSUB', channel)[2] > here then redis.call('PUBLISH', channel, message) end
  at = at + 4 + 3 * count
end
return taken
"""
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Redis] = WeakKeyDictionary()


class Place(NamedTuple):
    """Where a frame stands in its stream."""

    seq: int = 0
    between: int = 0


SEAL, ENDING = Place(LAST, 0), Place(LAST, 1)


class Entry(NamedTuple):
    """A frame in its place; `seq` is the last number given out when it was made, its own where it has one."""

    place: Place
    seq: int
    json: str

    @property
    def is_numbered(self) -> bool:
        return self.place.between == 0

    def follows(self, seq: int) -> bool:
        """Whether nothing is missing between piece `seq` and this."""
        return self.seq - self.is_numbered <= seq


def client() -> Redis:
    """The Redis client of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5)
    return _clients[loop]


def key_of(reply_id: UUID | str) -> str:
    return f"kith:reply:{reply_id}"


def entry(frame: Frame, place: Place, seq: int) -> Entry:
    return Entry(place, seq, orjson.dumps(frame).decode())


class Parcel(NamedTuple):
    """Entries of one reply, and the message that tells of them: to be PUBLISHed on a channel.

    Where this process itself subscribes (`is_heard_here`), only if another does, too: who listens here is told here.
    """

    reply_id: str
    entries: Sequence[Entry]
    channel: str
    message: bytes
    is_heard_here: bool


async def write(parcels: Sequence[Parcel]) -> list[bool]:
    """Append the entries and publish the messages, in one trip; for each parcel whether its stream took it.

    A stream's hour begins anew. An entry that is there already stays as it is. A sealed stream takes nothing any
    more, and its message is not published. Raises RedisError and OSError; then all of it may be written again.
    """
    words: list[str | bytes | int] = [int(settings.PIECES_KEPT.total_seconds())]
    for one in parcels:
        words += (one.channel, one.message, int(one.is_heard_here), len(one.entries))
        for entry in one.entries:
            words += (f"{entry.place.seq}-{entry.place.between}", entry.seq, entry.json)
    keys = [key_of(one.reply_id) for one in parcels]
    return [taken == 1 for taken in await client().eval(WRITE, len(keys), *keys, *words)]


async def read(reply_id: UUID | str, after: Place = Place()) -> list[Entry]:  # noqa: B008 (a constant)
    """The entries that follow the place."""
    found: list[tuple[bytes, dict[bytes, bytes]]]
    found = await client().xrange(key_of(reply_id), min="({}-{}".format(*after))  # type: ignore[assignment]
    return [_entry(id, fields) for id, fields in found if b"f" in fields]


def _entry(id: bytes, fields: dict[bytes, bytes]) -> Entry:
    return Entry(Place(*map(int, id.split(b"-"))), int(fields[b"n"]), fields[b"f"].decode())


def seal(reply_id: UUID, after: Place) -> list[Entry]:
    """Let nothing but an ending into the stream from now on; the entries that follow the place, [] without Redis."""
    try:
        with _blocking() as sealing:
            pipe = sealing.pipeline()
            pipe.xadd(key_of(reply_id), {"sealed": 1}, id="{}-{}".format(*SEAL))
            pipe.expire(key_of(reply_id), settings.PIECES_KEPT)
            pipe.xrange(key_of(reply_id), min="({}-{}".format(*after))
            found = pipe.execute(raise_on_error=False)[-1]
    except redis.RedisError:
        return []
    return [_entry(id, fields) for id, fields in found if b"f" in fields]


def _blocking() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5)


async def forget(reply_id: UUID) -> None:
    await client().delete(key_of(reply_id))


def wipe(reply_ids: Iterable[UUID]) -> None:
    """Empty these streams and seal them, so that a process that still makes one of the replies adds nothing."""
    with _blocking() as wiping:
        pipe = wiping.pipeline()
        for key in map(key_of, reply_ids):
            pipe.delete(key)
            pipe.xadd(key, {"sealed": 1}, id="{}-{}".format(*SEAL))
            pipe.expire(key, settings.PIECES_KEPT)
        pipe.execute()


def unbroken(entries: Iterable[Entry], seq: int) -> list[Entry]:
    """The entries up to the first before which something is missing, piece `seq` having been the last."""
    kept = []
    for one in entries:
        if not one.follows(seq):
            break
        kept.append(one)
        seq = max(seq, one.seq)
    return kept
