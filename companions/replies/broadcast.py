"""Replies' frames on their way: from the process that makes a reply, through Redis, to everyone who follows it.

Each reply has a stream in Redis, kept an hour, from which any web process serves a resume. The place of a frame is its
id in the stream: `seq-0` for the pieces and thoughts, numbered from 1; those between carry the number before them and a
counter, so that what follows a given piece is one range. The ending stands last of all. A stream may be sealed: from
then on it takes an ending and nothing else, whoever still writes to it.
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
DEAF_SECONDS = 1.0  # while Redis is away, and nothing is heard
MAX_FOLLOWED = 50
LAST = 2**63 - 1
BEHIND = "equal or smaller"  # Redis says so of an entry whose place has been passed
Frame = dict[str, object]


# -- a reply's stream in Redis ---------------------------------------------------------------------------------------


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


async def append_entries(batches: Sequence[tuple[str, Sequence[Entry]]]) -> list[bool]:
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


async def read_entries(reply_id: UUID | str, after: Place) -> list[Entry]:
    """Return the entries that follow the place."""
    return _entries(await redis_client().xrange(_key(reply_id), min=f"({after.id}"))


async def delete_stream(reply_id: UUID) -> None:
    await redis_client().delete(_key(reply_id))


def seal_stream(reply_id: UUID, after: Place) -> list[Entry]:
    """Let nothing but an ending into the stream from now on; return the entries after the place, none without Redis."""
    try:
        with _blocking_client() as client:
            pipe = client.pipeline()
            _seal(pipe, reply_id)
            pipe.xrange(_key(reply_id), min=f"({after.id}")
            return _entries(pipe.execute(raise_on_error=False)[-1])
    except redis.RedisError:
        return []


def wipe_streams(reply_ids: Iterable[UUID]) -> None:
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


# -- sending ---------------------------------------------------------------------------------------------------------


class Publisher:
    """Numbers the pieces and thoughts of one reply, and sends all its frames in order.

    `is_sealed` once another process has ended the reply: then nothing more is sent but an ending, if that is missing.
    """

    def __init__(self, companion_id: UUID, reply_id: UUID, seq: int = 0, characters: int = 0) -> None:
        self.group, self.reply_id, self.seq = group_of_companion(companion_id), str(reply_id), seq
        self.sent = {"reply.piece": characters, "reply.thought": 0}  # of the text, as far as it has a number
        self.is_sealed = False
        self._between = 0
        self._waiting: list[Frame] = []
        self._batch: list[Entry] = []
        self._ending: Frame | None = None
        self._is_closing = False
        self._is_done = asyncio.Event()
        self._broadcaster = broadcaster()

    def send(self, type: str, **fields: object) -> None:
        """Send a frame that has no number."""
        self._put({"type": type, "id": self.reply_id, **fields})

    def add(self, type: str, text: str) -> None:
        """Send a piece (or a thought); one that still waits and is of the same kind grows by it."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and last["type"] == type:
            last["text"] = f"{last['text']}{text}"
        else:
            self._put({"type": type, "id": self.reply_id, "text": text})

    @property
    def last_seq(self) -> int:
        """Return the number that the last piece has, or will have where it still waits."""
        return self.seq + sum(frame["type"] in self.sent for frame in self._waiting)

    async def close(self, type: str = "", **fields: object) -> None:
        """Send the ending, if there is one, and wait until all is sent, or Redis has been away for too long."""
        self._ending = {"type": type, "id": self.reply_id, **fields} if type else None
        self._is_closing = True
        self._broadcaster.wake(self)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_done.wait(), CLOSE_TIMEOUT_SECONDS)

    def _put(self, frame: Frame) -> None:
        self._waiting.append(frame)
        self._broadcaster.wake(self)

    def next_batch(self) -> list[Entry]:
        """Return what is to be sent next: the same again until it is, the ending alone and last."""
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
        """Go on behind the batch, which the stream has taken or, being sealed, has not."""
        self.is_sealed = self.is_sealed or not is_taken
        self._batch = []
        if self._waiting or self._is_closing:
            self._broadcaster.wake(self)


class Broadcaster:
    """Sends what the replies of a process have ready, a trip at a time."""

    def __init__(self) -> None:
        self._ready: dict[Publisher, None] = {}
        self._sending: asyncio.Task[None] | None = None

    def wake(self, publisher: Publisher) -> None:
        """Send what the publisher has ready."""
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
    """Return how long a listener waits for a frame before it looks for what it may have missed."""
    return SILENCE_SECONDS if hub().is_subscribed else DEAF_SECONDS


class Follower:
    """What one listener has had of a companion's replies."""

    def __init__(self, companion: Companion) -> None:
        self.companion = companion
        self._had: dict[str, tuple[Place, int]] = {}  # of each reply: the place, and the last number
        self._heard_at: dict[str, float] = {}

    def begin(self, reply_id: UUID | str, after: int = 0) -> None:
        """Follow a reply from its beginning, or from after a piece."""
        self._move(str(reply_id), Place(after, 0), after)

    async def take(self, reply_id: str, entries: Iterable[Sequence[Any]]) -> list[str]:
        """Return the new frames among those that came; where some are missing before them, these first."""
        given: list[str] = []
        for entry in (Entry(Place(*place), seq, json) for place, seq, json in entries):
            if self.is_ended(reply_id):
                break
            if reply_id not in self._had:  # it began before this listener did
                self._move(reply_id, entry.place, entry.seq)
                given.append(entry.json)
            elif not entry.follows(self._had[reply_id][1]):
                given += await self.catch_up(reply_id)
            given += self._take_new(reply_id, [entry])
        return given

    async def catch_up(self, reply_id: str) -> list[str]:
        """Return what this listener has missed of the reply: from its stream; where that is broken, from its row."""
        if reply_id not in self._had or self.is_ended(reply_id):
            return []
        self._heard_at[reply_id] = time.monotonic()
        with contextlib.suppress(*REDIS_UNAVAILABLE):
            entries = await read_entries(reply_id, self._had[reply_id][0])
            if found := self._take_new(reply_id, entries):
                return found
        return await self._read_row(reply_id)

    def silent(self) -> list[str]:
        """Return the replies under way of which nothing has come for a while."""
        late = time.monotonic() - silence_seconds()
        return [id for id in self._had if not self.is_ended(id) and self._heard_at.get(id, 0) < late]

    def is_ended(self, reply_id: UUID | str) -> bool:
        return self._had.get(str(reply_id), (Place(), 0))[0] == ENDING

    def _take_new(self, reply_id: str, entries: Iterable[Entry]) -> list[str]:
        """Return those that come after what was had, without a gap."""
        place, seq = self._had[reply_id]
        new = take_unbroken((entry for entry in entries if entry.place > place), seq)
        if new:
            self._move(reply_id, new[-1].place, max(seq, new[-1].seq))
        return [entry.json for entry in new]

    async def _read_row(self, reply_id: str) -> list[str]:
        """Return the text as it is on the row where that is further, and the ending where there is one."""
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
    """Gives the frames of a companion's replies where there is no socket: an event stream, or a wait for an end."""

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
        """Wait until the reply ends, at most so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                async for _frame in self.frames(reply_id):
                    pass


@asynccontextmanager
async def listening(companion: Companion) -> AsyncIterator[ReplyListener]:
    """Give a listener that hears everything from now on; while Redis is away it looks every few seconds."""
    listener, group = ReplyListener(companion), group_of_companion(companion.pk)
    hear = listener.heard.put_nowait
    await hub().listen(group, hear)
    try:
        yield listener
    finally:
        hub().leave(group, hear)
