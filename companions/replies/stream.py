"""A reply's frames in Redis: a stream each, kept an hour, from which any web process serves a resume.

The place of a frame is its id in the stream: `seq-0` for the pieces and thoughts, numbered from 1; those between
carry the number before them and a counter, so that what follows a given piece is one range. The ending stands last of
all. A stream may be sealed: from then on it takes an ending and nothing else, whoever still writes to it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast
from uuid import UUID

import orjson
import redis
from django.conf import settings

from companions.events import redis_client

Frame = dict[str, object]
LAST = 2**63 - 1
BEHIND = "equal or smaller"  # Redis says so of an entry whose place has been passed


class Place(NamedTuple):
    """Where a frame stands in its stream."""

    seq: int = 0
    between: int = 0

    @property
    def id(self) -> str:
        return f"{self.seq}-{self.between}"


SEAL, ENDING = Place(LAST, 0), Place(LAST, 1)


class Entry(NamedTuple):
    """A frame in its place; `seq` is the last number given out when it was made, its own where it has one."""

    place: Place
    seq: int
    json: str

    @classmethod
    def of(cls, frame: Frame, place: Place, seq: int) -> "Entry":
        return cls(place, seq, orjson.dumps(frame).decode())

    def follows(self, seq: int) -> bool:
        """Whether nothing is missing between piece `seq` and this."""
        is_numbered = self.place.between == 0
        return self.seq - is_numbered <= seq


def take_unbroken(entries: Iterable[Entry], seq: int) -> list[Entry]:
    """Return the entries up to the first before which something is missing, piece `seq` having been the last."""
    kept = []
    for entry in entries:
        if not entry.follows(seq):
            break
        kept.append(entry)
        seq = max(seq, entry.seq)
    return kept


async def append(batches: Sequence[tuple[str, Sequence[Entry]]]) -> list[bool]:
    """Append entries to the streams of some replies; return for each whether its stream took them: a sealed one does not.

    A stream's hour begins anew. An entry that is there already stays as it is, so all of it may be appended again after
    what REDIS_UNAVAILABLE names was raised.
    """
    pipe = redis_client().pipeline(transaction=False)
    for reply_id, entries in batches:
        for entry in entries:
            pipe.xadd(_key(reply_id), {"f": entry.json, "n": entry.seq}, id=entry.place.id)
        pipe.expire(_key(reply_id), settings.PIECES_KEPT)
    results = iter(await pipe.execute(raise_on_error=False))
    taken = []
    for reply_id, entries in batches:
        outcomes = [next(results) for _entry in entries]
        next(results)  # the expiry's
        errors = [outcome for outcome in outcomes if isinstance(outcome, redis.RedisError)]
        if any(BEHIND not in str(error) for error in errors):
            raise errors[0]
        taken.append(not errors or await _ends_with(reply_id, entries[-1].place))
    return taken


async def _ends_with(reply_id: str, place: Place) -> bool:
    """Whether entries that could not be added are in the stream already, which has not been sealed since."""
    newest = await redis_client().xrevrange(_key(reply_id), count=1)
    if not newest:
        return False
    seq, between = map(int, cast(bytes, newest[0][0]).split(b"-"))
    return seq != LAST or Place(seq, between) == place


async def read(reply_id: UUID | str, after: Place) -> list[Entry]:
    """Return the entries that follow the place."""
    return _entries(await redis_client().xrange(_key(reply_id), min=f"({after.id}"))


async def delete(reply_id: UUID) -> None:
    await redis_client().delete(_key(reply_id))


def seal(reply_id: UUID, after: Place) -> list[Entry]:
    """Let nothing but an ending into the stream from now on; return the entries after the place, none without Redis."""
    try:
        with _blocking_client() as client:
            pipe = client.pipeline()
            _seal(pipe, reply_id)
            pipe.xrange(_key(reply_id), min=f"({after.id}")
            return _entries(pipe.execute(raise_on_error=False)[-1])
    except redis.RedisError:
        return []


def wipe(reply_ids: Iterable[UUID]) -> None:
    """Empty these streams and seal them, so that a process that still makes one of the replies adds nothing."""
    with _blocking_client() as client:
        pipe = client.pipeline()
        for reply_id in reply_ids:
            pipe.delete(_key(reply_id))
            _seal(pipe, reply_id)
        pipe.execute()


def _seal(pipe: Any, reply_id: UUID) -> None:
    pipe.xadd(_key(reply_id), {"sealed": 1}, id=SEAL.id)
    pipe.expire(_key(reply_id), settings.PIECES_KEPT)


def _blocking_client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5)


def _key(reply_id: UUID | str) -> str:
    return f"kith:reply:{reply_id}"


def _entries(rows: Any) -> list[Entry]:
    return [
        Entry(Place(*map(int, id.split(b"-"))), int(fields[b"n"]), fields[b"f"].decode())
        for id, fields in rows
        if b"f" in fields
    ]
