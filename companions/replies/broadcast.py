"""Sending replies' frames out: each to its reply's Redis stream, and to everyone who follows the companion.

One broadcaster serves all replies of a process. What arrives while Redis is being written to goes out together
afterwards, so that a slow Redis or a busy process makes larger pieces and never a longer queue.
"""

import asyncio
import contextlib
import contextvars
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from companions.events import REDIS_UNAVAILABLE, Event, group_of_companion, publish
from companions.replies.stream import ENDING, Entry, Frame, Place, append

RETRY_SECONDS = 0.5
CLOSE_TIMEOUT_SECONDS = 20.0


class Publisher:
    """Numbers the pieces and thoughts of one reply, and sends all its frames in order.

    `is_sealed` once another process has ended the reply: then nothing more is sent but an ending, if that is missing.
    """

    def __init__(self, companion_id: UUID, reply_id: UUID, seq: int = 0) -> None:
        self.group, self.reply_id, self.seq = group_of_companion(companion_id), str(reply_id), seq
        self.sent = {"reply.piece": 0, "reply.thought": 0}  # characters that have a number
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
        """The number that the last piece has, or will have where it still waits."""
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
            self._batch = [self._numbered(frame) for frame in frames]
        if not self._batch and self._ending:
            self._batch, self._ending = [Entry.of(self._ending, ENDING, self.seq)], None
        if not self._batch and self._is_closing:
            self._is_done.set()
        return self._batch

    def _numbered(self, frame: Frame) -> Entry:
        if frame["type"] in self.sent:
            self.sent[str(frame["type"])] += len(str(frame["text"]))
            self.seq, self._between = self.seq + 1, 0
            return Entry.of({**frame, "seq": self.seq}, Place(self.seq, 0), self.seq)
        self._between += 1
        return Entry.of(frame, Place(self.seq, self._between), self.seq)

    def event(self) -> tuple[str, Event]:
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
                await self._send()
        finally:
            self._sending = None

    async def _send(self) -> None:
        ready, self._ready = self._ready, {}
        batches = {publisher: batch for publisher in ready if (batch := publisher.next_batch())}
        try:
            taken = await append([(publisher.reply_id, batch) for publisher, batch in batches.items()])
            if events := [one.event() for one, is_taken in zip(batches, taken, strict=True) if is_taken]:
                await publish(*events)
        except REDIS_UNAVAILABLE:
            self._ready = ready | self._ready
            await asyncio.sleep(RETRY_SECONDS)
            return
        for publisher, is_taken in zip(batches, taken, strict=True):
            publisher.mark_sent(is_taken=is_taken)


_broadcasters: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()


def broadcaster() -> Broadcaster:
    """Return the broadcaster of the running event loop."""
    found: Broadcaster = _broadcasters.setdefault(asyncio.get_running_loop(), Broadcaster())
    return found
