"""Sending replies' frames out: each to its reply's Redis stream and to everyone who listens to the companion.

One writer serves all replies of a process. What arrives while Redis is being written to goes out together
afterwards, so that a slow Redis or a busy process makes larger pieces and never a longer queue. Whoever listens in
this process is told as soon as Redis has it; through Redis only those are told who listen elsewhere.
"""

import asyncio
import contextlib
import contextvars
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import orjson
from channels.exceptions import ChannelFull

from companions.replies.layer import AWAY, layer, posted
from companions.replies.stream import ENDING, Entry, Frame, Parcel, Place, entry, write

RETRY_SECONDS = 0.5
PATIENCE = timedelta(seconds=20)
Ear = Callable[[dict[str, Any]], None]
"""Takes a message in at once, and does not wait."""


def group_of(companion_id: UUID | str) -> str:
    """The group of everyone who listens to this companion."""
    return f"companion.{companion_id}"


async def tell(companion_id: UUID, frame: Frame, but: str = "") -> str:
    """Send a frame that belongs to no reply to everyone who listens, but for one channel; gives it as JSON."""
    json = orjson.dumps(frame).decode()
    with contextlib.suppress(*AWAY, ChannelFull):
        message = {"type": "companion.frame", "frame": json, "but": but}
        await layer().group_send(group_of(companion_id), message)
    return json


class Publisher:
    """Numbers the pieces and thoughts of one reply, and sends all its frames in order.

    `is_sealed` once another process has ended the reply: then nothing more is sent but an ending, if that is missing.
    """

    def __init__(self, companion_id: UUID, reply_id: UUID, seq: int = 0) -> None:
        self.group, self.reply_id, self.seq = group_of(companion_id), str(reply_id), seq
        self.sent = {"reply.piece": 0, "reply.thought": 0}  # characters that have a number
        self.is_sealed = False
        self._between = 0
        self._waiting: list[Frame] = []
        self._leaving: list[Entry] = []
        self._message: dict[str, Any] = {}
        self._ending: Frame | None = None
        self._is_closing = False
        self._is_done = asyncio.Event()
        self._outlet = outlet()

    def send(self, type: str, **fields: object) -> None:
        """Send a frame that has no number."""
        self._put({"type": type, "id": self.reply_id, **fields})

    def add(self, type: str, text: str) -> None:
        """Send a piece (or a thought); one that still waits and is of the same kind grows by it."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and last["type"] == type and "seq" not in last:
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
        self._outlet.wake(self)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_done.wait(), PATIENCE.total_seconds())

    def _put(self, frame: Frame) -> None:
        self._waiting.append(frame)
        self._outlet.wake(self)

    def parcel(self) -> Parcel | None:
        """What is to be written next: the same again until it is, the ending alone and last."""
        if not self._leaving:
            frames, self._waiting = self._waiting, []
            self._leaving = [self._numbered(frame) for frame in frames]
        if not self._leaving and self._ending:
            self._leaving, self._ending = [entry(self._ending, ENDING, self.seq)], None
        if not self._leaving:
            if self._is_closing:
                self._is_done.set()
            return None
        self._message = {"type": "reply.frames", "id": self.reply_id, "frames": self._leaving}
        here = self._outlet.is_heard(self.group)
        return Parcel(self.reply_id, self._leaving, *posted(self.group, self._message), here)

    def _numbered(self, frame: Frame) -> Entry:
        if frame["type"] in self.sent:
            self.sent[str(frame["type"])] += len(str(frame["text"]))
            self.seq, self._between = self.seq + 1, 0
            return entry({**frame, "seq": self.seq}, Place(self.seq, 0), self.seq)
        self._between += 1
        return entry(frame, Place(self.seq, self._between), self.seq)

    def is_written(self, *, taken: bool) -> None:
        """Its parcel has reached Redis, which took it or has the stream sealed."""
        self.is_sealed = self.is_sealed or not taken
        if taken:
            self._outlet.tell(self.group, self._message)
        self._leaving = []
        if self._waiting or self._is_closing:
            self._outlet.wake(self)


class Outlet:
    """The one writer of a process: what its replies have ready goes to Redis together, a trip at a time."""

    def __init__(self) -> None:
        self._ready: dict[Publisher, None] = {}
        self._writer: asyncio.Task[None] | None = None
        self._ears: defaultdict[str, set[Ear]] = defaultdict(set)

    def listen(self, group: str, ear: Ear) -> None:
        """Tell that ear, too, what this process makes. Its process has subscribed to the group before."""
        self._ears[group].add(ear)

    def leave(self, group: str, ear: Ear) -> None:
        """Tell that ear no more."""
        self._ears[group].discard(ear)
        if not self._ears[group]:
            del self._ears[group]

    def is_heard(self, group: str) -> bool:
        """Whether anyone listens in this process."""
        return group in self._ears

    def tell(self, group: str, message: dict[str, Any]) -> None:
        """Tell everyone who listens in this process."""
        for ear in self._ears.get(group, ()):
            ear(message)

    def wake(self, publisher: Publisher) -> None:
        """The publisher has something to send."""
        self._ready[publisher] = None
        if self._writer is None:
            loop = asyncio.get_running_loop()
            self._writer = loop.create_task(self._write_all(), context=contextvars.Context())

    async def _write_all(self) -> None:
        try:
            while self._ready:
                await self._write()
        finally:
            self._writer = None

    async def _write(self) -> None:
        ready, self._ready = self._ready, {}
        parcels = {one: parcel for one in ready if (parcel := one.parcel())}
        try:
            taken = await write(list(parcels.values())) if parcels else []
        except AWAY:
            self._ready = ready | self._ready
            await asyncio.sleep(RETRY_SECONDS)
            return
        for publisher, was_taken in zip(parcels, taken, strict=True):
            publisher.is_written(taken=was_taken)


_outlets: WeakKeyDictionary[asyncio.AbstractEventLoop, Outlet] = WeakKeyDictionary()


def outlet() -> Outlet:
    """The outlet of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _outlets:
        _outlets[loop] = Outlet()
    return _outlets[loop]
