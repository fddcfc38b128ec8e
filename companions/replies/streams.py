"""The stream of each reply in Redis, kept for an hour, from which any web process can resume.

A frame's place is its id in the stream: `seq-0` for pieces and thoughts, numbered from 1; other frames have the number
before them and a counter, so that all that follows a given piece is one range. The ending has the last place. Once a
stream is sealed, it accepts an ending and nothing else, from any process.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast
from uuid import UUID

import orjson
import redis
from django.conf import settings

from companions.events import redis_client
from jobs.background import get_blocking_redis

PIECES_PER_EXPIRY = 32  # a stream lives for an hour: its expiry need not be renewed with each piece
LAST = 2**63 - 1
BEHIND = "equal or smaller"  # part of the error with which Redis refuses an entry whose place has been passed
Frame = dict[str, object]


class Place(NamedTuple):
    """The position of a frame in its stream: the entry's id there."""

    seq: int = 0
    between: int = 0

    @property
    def id(self) -> str:
        return f"{self.seq}-{self.between}"


SEAL, ENDING = Place(LAST, 0), Place(LAST, 1)


class Entry(NamedTuple):
    """A frame with its place in the stream; `seq` is its own number, or that of the last numbered frame before it."""

    place: Place
    seq: int
    json: str

    @classmethod
    def of(cls, frame: Frame, place: Place, seq: int) -> "Entry":
        return cls(place, seq, orjson.dumps(frame).decode())

    def follows(self, seq: int) -> bool:
        """Return whether no numbered frame is missing between number `seq` and this entry."""
        is_numbered = self.place.between == 0
        return self.seq - is_numbered <= seq


def take_unbroken(entries: Iterable[Entry], seq: int) -> list[Entry]:
    """Return the entries that follow number `seq` without a gap, up to the first gap."""
    kept = []
    for entry in entries:
        if not entry.follows(seq):
            break
        kept.append(entry)
        seq = max(seq, entry.seq)
    return kept


async def append_entries(batches: Sequence[tuple[str, Sequence[Entry]]]) -> list[bool]:
    """Append batches of entries to replies' streams; return for each batch whether its stream took it.

    A sealed stream takes nothing but an ending. A stream's expiry is renewed by every 32nd piece, and by all frames that
    are no pieces, of which one begins the stream and one ends it. Appending an entry again changes nothing, so the call
    may be repeated after an error of REDIS_UNAVAILABLE.
    """
    pipe = redis_client().pipeline(transaction=False)
    for reply_id, entries in batches:
        for entry in entries:
            pipe.xadd(_make_key(reply_id), {"f": entry.json, "n": entry.seq}, id=entry.place.id)
    for reply_id, entries in batches:
        if any(entry.place.between or entry.seq % PIECES_PER_EXPIRY == 0 for entry in entries):
            pipe.expire(_make_key(reply_id), settings.PIECES_KEPT)
    results = iter(await pipe.execute(raise_on_error=False))
    taken = []
    for reply_id, entries in batches:
        outcomes = [next(results) for _entry in entries]
        errors = [outcome for outcome in outcomes if isinstance(outcome, redis.RedisError)]
        if any(BEHIND not in str(error) for error in errors):
            raise errors[0]
        taken.append(not errors or await _ends_with(reply_id, entries[-1].place))
    return taken


async def _ends_with(reply_id: str, place: Place) -> bool:
    """Return whether refused entries, the last of them at `place`, are in the stream already and it is not sealed."""
    newest = await redis_client().xrevrange(_make_key(reply_id), count=1)
    if not newest:
        return False
    seq, between = map(int, cast(bytes, newest[0][0]).split(b"-"))
    return seq != LAST or Place(seq, between) == place


async def read_entries(reply_id: UUID | str, after: Place) -> list[Entry]:
    """Return the entries of the reply's stream after the place."""
    return _read_rows(await redis_client().xrange(_make_key(reply_id), min=f"({after.id}"))


async def delete_stream(reply_id: UUID) -> None:
    await redis_client().delete(_make_key(reply_id))


def seal_stream(reply_id: UUID, after: Place) -> list[Entry]:
    """Seal the reply's stream, so that it accepts only an ending; return its entries after the place.

    Return an empty list if Redis is away.
    """
    try:
        pipe = _blocking_client().pipeline()
        _seal(pipe, reply_id)
        pipe.xrange(_make_key(reply_id), min=f"({after.id}")
        return _read_rows(pipe.execute(raise_on_error=False)[-1])
    except redis.RedisError:
        return []


def wipe_streams(reply_ids: Iterable[UUID]) -> None:
    """Empty and seal the replies' streams, so that a process that still generates one of them adds nothing."""
    pipe = _blocking_client().pipeline()
    for reply_id in reply_ids:
        pipe.delete(_make_key(reply_id))
        _seal(pipe, reply_id)
    pipe.execute()


def _seal(pipe: Any, reply_id: UUID) -> None:
    pipe.xadd(_make_key(reply_id), {"sealed": 1}, id=SEAL.id)
    pipe.expire(_make_key(reply_id), settings.PIECES_KEPT)


def _blocking_client() -> redis.Redis:
    return get_blocking_redis(settings.REDIS_URL, 5.0)


def _make_key(reply_id: UUID | str) -> str:
    return f"kith:reply:{reply_id}"


def _read_rows(rows: Any) -> list[Entry]:
    return [
        Entry(Place(*map(int, id.split(b"-"))), int(fields[b"n"]), fields[b"f"].decode())
        for id, fields in rows
        if b"f" in fields
    ]
