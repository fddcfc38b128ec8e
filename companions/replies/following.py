"""Following replies: which of their frames a listener has received, and those that it missed."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import orjson

from companions.events import REDIS_UNAVAILABLE, Event, group_of_companion, hub, render_ending
from companions.models import Companion, Reply
from companions.replies.streams import ENDING, Entry, Place, read_entries, take_unbroken
from jobs.background import in_thread

SILENCE_SECONDS = 3.0  # after which a listener looks for what it may have missed
DEAF_SECONDS = 1.0  # the same while Redis is away
MAX_FOLLOWED = 50


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

    def find_silent(self) -> list[str]:
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
            return [_render_frame("reply.stopped", reply_id, message=None)]
        given = []
        if reply.seq > self._had[reply_id][1]:
            begun = {"message_id": str(reply.message_id), "text": reply.text, "after": reply.seq}
            given.append(_render_frame("reply.started", reply_id, **begun))
            given += [_render_frame("reply.emotion", reply_id, **felt) for felt in reply.emotions[-1:]]
            self._move(reply_id, Place(reply.seq, 0), reply.seq)
        if not reply.is_open:
            self._move(reply_id, ENDING, reply.seq)
            given.append(
                _render_frame(f"reply.{reply.state}", reply_id, **render_ending(reply, self.companion))
            )
        return given

    def _move(self, reply_id: str, place: Place, seq: int) -> None:
        self._had[reply_id] = (place, seq)
        self._heard_at[reply_id] = time.monotonic()
        while len(self._had) > MAX_FOLLOWED:
            oldest = next(iter(self._had))
            del self._had[oldest], self._heard_at[oldest]


def _render_frame(type: str, reply_id: str, **fields: object) -> str:
    return orjson.dumps({"type": type, "id": reply_id, **fields}).decode()


class ReplyListener:
    """Receives the frames of a companion's replies without a socket: for an event stream, or to wait for the end."""

    def __init__(self, companion: Companion) -> None:
        self.follower = Follower(companion)
        self.heard: asyncio.Queue[Event] = asyncio.Queue()

    async def frames(self, reply_id: UUID) -> AsyncIterator[str]:
        """Yield the reply's frames, and errors that concern it, as JSON, from its beginning until it ends.

        Yield an empty text after each `silence_seconds` without any.
        """
        self.follower.begin(reply_id)
        for frame in await self.follower.catch_up(str(reply_id)):
            yield frame
        given_at = time.monotonic()
        while not self.follower.is_ended(reply_id):
            given: list[str] = []
            try:
                async with asyncio.timeout(silence_seconds()):
                    event = await self.heard.get()
            except TimeoutError:
                given = await self.follower.catch_up(str(reply_id))
            else:
                if event["type"] == "reply.frames" and event["id"] == str(reply_id):
                    given = await self.follower.take(event["id"], event["frames"])
                elif event.get("reply_id") == str(reply_id):
                    given = [event["frame"]]
            if not given and time.monotonic() - given_at >= silence_seconds():
                given = [""]
            for frame in given:
                yield frame
                given_at = time.monotonic()

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
