"""Sending a reply's frames out: to its Redis stream and to everyone who listens to the companion.

What arrives while Redis is being written to goes out together afterwards, so that a slow Redis makes
larger pieces and never a longer queue.
"""

import asyncio
import contextlib
from datetime import timedelta
from uuid import UUID

import orjson
from channels.exceptions import ChannelFull

from companions.replies.layer import AWAY, layer
from companions.replies.stream import ENDING, Entry, Frame, Place, SealedError, entry, write

RETRY_SECONDS = 0.5
PATIENCE = timedelta(seconds=20)


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
        self.group, self.reply_id, self.seq = group_of(companion_id), reply_id, seq
        self.sent = {"reply.piece": 0, "reply.thought": 0}  # characters that have a number
        self.is_sealed = False
        self._between = 0
        self._waiting: list[Frame] = []
        self._ending: Frame | None = None
        self._woken = asyncio.Event()
        self._is_closing = False
        self._writer = asyncio.create_task(self._write_all())

    def send(self, type: str, **fields: object) -> None:
        """Send a frame that has no number."""
        self._put({"type": type, "id": str(self.reply_id), **fields})

    def add(self, type: str, text: str) -> None:
        """Send a piece (or a thought); one that still waits and is of the same kind grows by it."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and last["type"] == type and "seq" not in last:
            last["text"] = f"{last['text']}{text}"
        else:
            self._put({"type": type, "id": str(self.reply_id), "text": text})

    async def close(self, type: str = "", **fields: object) -> None:
        """Send the ending, if there is one, and wait until all is sent, or Redis has been away for too long."""
        self._ending = {"type": type, "id": str(self.reply_id), **fields} if type else None
        self._is_closing = True
        self._woken.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._writer, PATIENCE.total_seconds())

    def _put(self, frame: Frame) -> None:
        self._waiting.append(frame)
        self._woken.set()

    async def _write_all(self) -> None:
        while self._waiting or not self._is_closing:
            await self._woken.wait()
            self._woken.clear()
            frames, self._waiting = self._waiting, []
            if frames:
                await self._write([self._numbered(frame) for frame in frames])
        if self._ending:
            await self._write([entry(self._ending, ENDING, self.seq)])

    def _numbered(self, frame: Frame) -> Entry:
        if frame["type"] in self.sent:
            self.sent[str(frame["type"])] += len(str(frame["text"]))
            self.seq, self._between = self.seq + 1, 0
            return entry({**frame, "seq": self.seq}, Place(self.seq, 0), self.seq)
        self._between += 1
        return entry(frame, Place(self.seq, self._between), self.seq)

    async def _write(self, entries: list[Entry]) -> None:
        message = {"type": "reply.frames", "id": str(self.reply_id), "frames": entries}
        while True:
            try:
                await write(self.reply_id, entries)
                await layer().group_send(self.group, message)
            except SealedError:
                self.is_sealed = True
                return
            except (*AWAY, ChannelFull):
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return
