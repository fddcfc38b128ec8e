"""The broadcast of replies' frames: from the process that generates a reply, through Redis, to everyone who follows it.

Each reply has a stream in Redis, kept for an hour, from which any web process can resume. A frame's place is its id in
the stream: `seq-0` for pieces and thoughts, numbered from 1; other frames have the number before them and a counter, so
that all that follows a given piece is one range. The ending has the last place. Once a stream is sealed, it accepts an
ending and nothing else, from any process.
"""

import asyncio
import contextlib
import contextvars
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast
from uuid import UUID

import orjson
import redis
from django.conf import settings

from companions.events import (
    REDIS_UNAVAILABLE,
    Event,
    group_of_companion,
    hub,
    publish,
    redis_client,
    render_ending,
)
from companions.models import Companion, Reply
from jobs.background import in_thread, one_per_loop

RETRY_SECONDS = 0.5
CLOSE_TIMEOUT_SECONDS = 20.0
SILENCE_SECONDS = 3.0  # after which a listener looks for what it may have missed
DEAF_SECONDS = 1.0  # the same while Redis is away
MAX_FOLLOWED = 50
PIECES_PER_EXPIRY = 32  # a stream lives for an hour: its expiry need not be renewed with each piece
LAST = 2**63 - 1
BEHIND = "equal or smaller"  # part of the error with which Redis refuses an entry whose place has been passed
Frame = dict[str, object]


# -- a reply's stream in Redis ---------------------------------------------------------------------------------------


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
            pipe.xadd(_key(reply_id), {"f": entry.json, "n": entry.seq}, id=entry.place.id)
    for reply_id, entries in batches:
        if any(entry.place.between or entry.seq % PIECES_PER_EXPIRY == 0 for entry in entries):
            pipe.expire(_key(reply_id), settings.PIECES_KEPT)
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
    newest = await redis_client().xrevrange(_key(reply_id), count=1)
    if not newest:
        return False
    seq, between = map(int, cast(bytes, newest[0][0]).split(b"-"))
    return seq != LAST or Place(seq, between) == place


async def read_entries(reply_id: UUID | str, after: Place) -> list[Entry]:
    """Return the entries of the reply's stream after the place."""
    return _entries(await redis_client().xrange(_key(reply_id), min=f"({after.id}"))


async def delete_stream(reply_id: UUID) -> None:
    await redis_client().delete(_key(reply_id))


def seal_stream(reply_id: UUID, after: Place) -> list[Entry]:
    """Seal the reply's stream, so that it accepts only an ending; return its entries after the place.

    Return an empty list if Redis is away.
    """
    try:
        with _blocking_client() as client:
            pipe = client.pipeline()
            _seal(pipe, reply_id)
            pipe.xrange(_key(reply_id), min=f"({after.id}")
            return _entries(pipe.execute(raise_on_error=False)[-1])
    except redis.RedisError:
        return []


def wipe_streams(reply_ids: Iterable[UUID]) -> None:
    """Empty and seal the replies' streams, so that a process that still generates one of them adds nothing."""
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


# -- sending ---------------------------------------------------------------------------------------------------------


class Publisher:
    """Numbers the pieces and thoughts of one reply, and sends all its frames in order.

    `is_sealed` is True once another process has ended the reply: then only a missing ending is still sent.
    """

    def __init__(self, companion_id: UUID, reply_id: UUID, seq: int = 0, characters: int = 0) -> None:
        self.group, self.reply_id, self.seq = group_of_companion(companion_id), str(reply_id), seq
        self.sent = {"reply.piece": characters, "reply.thought": 0}  # characters that have a number already
        self.is_sealed = False
        self._between = 0
        self._waiting: list[Frame] = []
        self._batch: list[Entry] = []
        self._ending: Frame | None = None
        self._is_closing = False
        self._is_done = asyncio.Event()
        self._broadcaster = broadcaster()

    def send(self, type: str, **fields: object) -> None:
        """Queue a frame without a number."""
        self._put({"type": type, "id": self.reply_id, **fields})

    def add(self, type: str, text: str) -> None:
        """Queue a piece or a thought, joined to the last waiting frame if that is of the same type."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and last["type"] == type:
            last["text"] = f"{last['text']}{text}"
        else:
            self._put({"type": type, "id": self.reply_id, "text": text})

    @property
    def last_seq(self) -> int:
        """Return the number of the last piece or thought, counting those that still wait to be numbered."""
        return self.seq + sum(frame["type"] in self.sent for frame in self._waiting)

    async def close(self, type: str = "", **fields: object) -> None:
        """Queue the ending, if a `type` is given, and wait until all is sent, at most CLOSE_TIMEOUT_SECONDS."""
        self._ending = {"type": type, "id": self.reply_id, **fields} if type else None
        self._is_closing = True
        self._broadcaster.wake(self)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_done.wait(), CLOSE_TIMEOUT_SECONDS)

    def _put(self, frame: Frame) -> None:
        self._waiting.append(frame)
        self._broadcaster.wake(self)

    def next_batch(self) -> list[Entry]:
        """Return the batch to send next: the same one until `mark_sent`; the ending comes last, in its own batch."""
        if not self._batch:
            frames, self._waiting = self._waiting, []
            self._batch = [self._number(frame) for frame in frames]
        if not self._batch and self._ending:
            self._batch, self._ending = [Entry.of(self._ending, ENDING, self.seq)], None
        if not self._batch and self._is_closing:
            self._is_done.set()
        return self._batch

    def _number(self, frame: Frame) -> Entry:
        if frame["type"] in self.sent:
            self.sent[str(frame["type"])] += len(str(frame["text"]))
            self.seq, self._between = self.seq + 1, 0
            return Entry.of({**frame, "seq": self.seq}, Place(self.seq, 0), self.seq)
        if frame["type"] == "reply.started":
            self.sent["reply.piece"] = len(str(frame["text"]))
        self._between += 1
        return Entry.of(frame, Place(self.seq, self._between), self.seq)

    def build_event(self) -> tuple[str, Event]:
        """Return the batch as an event for everyone who follows the companion."""
        frames = [(tuple(entry.place), entry.seq, entry.json) for entry in self._batch]
        return self.group, {"type": "reply.frames", "id": self.reply_id, "frames": frames}

    def mark_sent(self, *, is_taken: bool) -> None:
        """Drop the batch, which was sent, or refused because the stream is sealed, and go on with the next."""
        self.is_sealed = self.is_sealed or not is_taken
        self._batch = []
        if self._waiting or self._is_closing:
            self._broadcaster.wake(self)


class Broadcaster:
    """Sends the batches of all replies of a process, in one round trip to Redis at a time."""

    def __init__(self) -> None:
        self._ready: dict[Publisher, None] = {}
        self._sending: asyncio.Task[None] | None = None

    def wake(self, publisher: Publisher) -> None:
        """Include the publisher in the next round trip; start the sending task if it is not running."""
        self._ready[publisher] = None
        if self._sending is None:
            loop = asyncio.get_running_loop()
            self._sending = loop.create_task(self._send_all(), context=contextvars.Context())

    async def _send_all(self) -> None:
        try:
            while self._ready:
                ready, self._ready = self._ready, {}
                batches = {publisher: batch for publisher in ready if (batch := publisher.next_batch())}
                sent = [(publisher.reply_id, batch) for publisher, batch in batches.items()]
                try:
                    outcomes = list(zip(batches, await append_entries(sent), strict=True))
                    if events := [publisher.build_event() for publisher, is_taken in outcomes if is_taken]:
                        await publish(*events)
                except REDIS_UNAVAILABLE:
                    self._ready = ready | self._ready
                    await asyncio.sleep(RETRY_SECONDS)
                    continue
                for publisher, is_taken in outcomes:
                    publisher.mark_sent(is_taken=is_taken)
        finally:
            self._sending = None


@one_per_loop
def broadcaster() -> Broadcaster:
    """Return the broadcaster of the running event loop."""
    return Broadcaster()


# -- following -------------------------------------------------------------------------------------------------------


def silence_seconds() -> float:
    """Return how long a listener waits for a frame before it checks for missed ones; shorter while Redis is away."""
    return SILENCE_SECONDS if hub().is_subscribed else DEAF_SECONDS


class Follower:
    """Tracks which frames of a companion's replies one listener has received, and finds those that it missed."""

    def __init__(self, companion: Companion) -> None:
        self.companion = companion
        self._had: dict[str, tuple[Place, int]] = {}  # place and number of the last frame, by reply
        self._heard_at: dict[str, float] = {}

    def begin(self, reply_id: UUID | str, after: int = 0) -> None:
        """Follow a reply from its beginning, or after the piece with the number `after`."""
        self._move(str(reply_id), Place(after, 0), after)

    async def take(self, reply_id: str, entries: Iterable[Sequence[Any]]) -> list[str]:
        """Return the new frames among the received entries, preceded by frames that were missed before them."""
        given: list[str] = []
        for entry in (Entry(Place(*place), seq, json) for place, seq, json in entries):
            if self.is_ended(reply_id):
                break
            if reply_id not in self._had:  # the reply began before this listener
                self._move(reply_id, entry.place, entry.seq)
                given.append(entry.json)
            elif not entry.follows(self._had[reply_id][1]):
                given += await self.catch_up(reply_id)
            given += self._take_new(reply_id, [entry])
        return given

    async def catch_up(self, reply_id: str) -> list[str]:
        """Return the frames that the listener missed: from the reply's stream or, if that has none, from its row."""
        if reply_id not in self._had or self.is_ended(reply_id):
            return []
        self._heard_at[reply_id] = time.monotonic()
        with contextlib.suppress(*REDIS_UNAVAILABLE):
            entries = await read_entries(reply_id, self._had[reply_id][0])
            if found := self._take_new(reply_id, entries):
                return found
        return await self._read_row(reply_id)

    def silent(self) -> list[str]:
        """Return the ids of followed replies, not ended, of which no frame has come for `silence_seconds`."""
        late = time.monotonic() - silence_seconds()
        return [id for id in self._had if not self.is_ended(id) and self._heard_at.get(id, 0) < late]

    def is_ended(self, reply_id: UUID | str) -> bool:
        return self._had.get(str(reply_id), (Place(), 0))[0] == ENDING

    def _take_new(self, reply_id: str, entries: Iterable[Entry]) -> list[str]:
        """Return the frames of the entries that are new and follow the last received one without a gap."""
        place, seq = self._had[reply_id]
        new = take_unbroken((entry for entry in entries if entry.place > place), seq)
        if new:
            self._move(reply_id, new[-1].place, max(seq, new[-1].seq))
        return [entry.json for entry in new]

    async def _read_row(self, reply_id: str) -> list[str]:
        """Return frames made from the row: its text if that has progressed further, and the ending if there is one."""
        rows = Reply.objects.select_related("answer", "companion__user").filter(pk=reply_id)
        reply = await in_thread(rows.first)
        if reply is None:
            self._move(reply_id, ENDING, 0)
            return [_json("reply.stopped", reply_id, message=None)]
        given = []
        if reply.seq > self._had[reply_id][1]:
            begun = {"message_id": str(reply.message_id), "text": reply.text, "after": reply.seq}
            given.append(_json("reply.started", reply_id, **begun))
            given += [_json("reply.emotion", reply_id, **felt) for felt in reply.emotions[-1:]]
            self._move(reply_id, Place(reply.seq, 0), reply.seq)
        if not reply.is_open:
            self._move(reply_id, ENDING, reply.seq)
            given.append(_json(f"reply.{reply.state}", reply_id, **render_ending(reply, self.companion)))
        return given

    def _move(self, reply_id: str, place: Place, seq: int) -> None:
        self._had[reply_id] = (place, seq)
        self._heard_at[reply_id] = time.monotonic()
        while len(self._had) > MAX_FOLLOWED:
            oldest = next(iter(self._had))
            del self._had[oldest], self._heard_at[oldest]


def _json(type: str, reply_id: str, **fields: object) -> str:
    return orjson.dumps({"type": type, "id": reply_id, **fields}).decode()


class ReplyListener:
    """Receives the frames of a companion's replies without a socket: for an event stream, or to wait for the end."""

    def __init__(self, companion: Companion) -> None:
        self.follower = Follower(companion)
        self.heard: asyncio.Queue[Event] = asyncio.Queue()

    async def frames(self, reply_id: UUID) -> AsyncIterator[str]:
        """Yield the reply's frames as JSON, from its beginning until it ends."""
        self.follower.begin(reply_id)
        for frame in await self.follower.catch_up(str(reply_id)):
            yield frame
        while not self.follower.is_ended(reply_id):
            given: list[str] = []
            try:
                event = await asyncio.wait_for(self.heard.get(), silence_seconds())
            except TimeoutError:
                given = await self.follower.catch_up(str(reply_id))
            else:
                if event["type"] == "reply.frames" and event["id"] == str(reply_id):
                    given = await self.follower.take(event["id"], event["frames"])
            for frame in given:
                yield frame

    async def wait_for_end(self, reply_id: UUID, timeout_seconds: float) -> None:
        """Wait until the reply ends or `timeout_seconds` have passed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                async for _frame in self.frames(reply_id):
                    pass


@asynccontextmanager
async def listening(companion: Companion) -> AsyncIterator[ReplyListener]:
    """Provide, within an `async with` block, a listener that receives all frames; it polls while Redis is away."""
    listener, group = ReplyListener(companion), group_of_companion(companion.pk)
    hear = listener.heard.put_nowait
    await hub().listen(group, hear)
    try:
        yield listener
    finally:
        hub().leave(group, hear)
