"""Broadcast of replies' frames, from the process that generates a reply, through Redis, to everyone who follows it."""

import asyncio
import contextlib
import contextvars
from uuid import UUID

from companions.events import REDIS_UNAVAILABLE, Event, group_of_companion, publish
from companions.replies.streams import ENDING, Entry, Frame, Place, append_entries
from jobs.background import one_per_loop

RETRY_SECONDS = 0.5
CLOSE_TIMEOUT_SECONDS = 20.0


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
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self._is_done.wait()

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
            self._sending = asyncio.create_task(self._send_all(), context=contextvars.Context())

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
