"""Following a companion's replies: every frame once, in order, also where Redis was away for a while."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import orjson
from channels.layers import BaseChannelLayer

from companions.models import Companion, Reply
from companions.replies import frames, stream
from companions.replies.layer import AWAY, layer, new_channel
from companions.replies.publish import group_of, outlet
from companions.replies.stream import ENDING, Entry, Place
from database.threads import in_thread

SILENCE_SECONDS = 3.0
MOST_FOLLOWED = 50


class Follower:
    """What one listener has had of a companion's replies."""

    def __init__(self, companion: Companion) -> None:
        self.companion = companion
        self._had: dict[str, tuple[Place, int]] = {}  # of each reply: the place, and the last number
        self._heard: dict[str, float] = {}

    def begin(self, reply_id: UUID | str, after: int = 0) -> None:
        """Follow a reply from its beginning, or from after a piece."""
        self._move(str(reply_id), Place(after, 0), after)

    async def take(self, reply_id: str, entries: Iterable[Sequence[Any]]) -> list[str]:
        """The new frames among those that came; where some are missing before them, these first."""
        given: list[str] = []
        for one in (Entry(Place(*place), seq, json) for place, seq, json in entries):
            if self.is_ended(reply_id):
                break
            if reply_id not in self._had:  # it began before this listener did
                self._move(reply_id, Place(*one.place), one.seq)
                given.append(one.json)
            elif not one.follows(self._had[reply_id][1]):
                given += await self.catch_up(reply_id)
            given += self._new(reply_id, [one])
        return given

    async def catch_up(self, reply_id: str) -> list[str]:
        """What this listener has missed of the reply: from its stream; where that is broken, from its row."""
        if reply_id not in self._had or self.is_ended(reply_id):
            return []
        self._heard[reply_id] = time.monotonic()
        place, _ = self._had[reply_id]
        with contextlib.suppress(*AWAY):
            if found := self._new(reply_id, await stream.read(reply_id, place)):
                return found
        return await self._from_row(reply_id)

    def silent(self) -> list[str]:
        """The replies under way of which nothing has come for a while."""
        late = time.monotonic() - SILENCE_SECONDS
        return [
            id for id, (place, _) in self._had.items() if place != ENDING and self._heard.get(id, 0) < late
        ]

    def is_ended(self, reply_id: UUID | str) -> bool:
        return self._had.get(str(reply_id), (Place(), 0))[0] == ENDING

    def _new(self, reply_id: str, entries: Iterable[Entry]) -> list[str]:
        """Those that come after what was had, without a gap."""
        place, seq = self._had[reply_id]
        new = stream.unbroken((one for one in entries if one.place > place), seq)
        if new:
            self._move(reply_id, new[-1].place, max(seq, new[-1].seq))
        return [one.json for one in new]

    async def _from_row(self, reply_id: str) -> list[str]:
        """The text as it is on the row where that is further, and the ending where there is one."""
        reply = await in_thread(
            lambda: Reply.objects.select_related("answer", "companion__user").filter(pk=reply_id).first()
        )
        if reply is None:
            self._move(reply_id, ENDING, 0)
            return [_json("reply.stopped", reply_id, message=None)]
        _, seq = self._had[reply_id]
        given = [_begun(reply), *_felt(reply)] if reply.seq > seq else []
        if not reply.is_open:
            self._move(reply_id, ENDING, reply.seq)
            given.append(_json(f"reply.{reply.state}", reply_id, **frames.ending(reply, self.companion)))
        elif given:
            self._move(reply_id, Place(reply.seq, 0), reply.seq)
        return given

    def _move(self, reply_id: str, place: Place, seq: int) -> None:
        self._had[reply_id] = (place, seq)
        self._heard[reply_id] = time.monotonic()
        while len(self._had) > MOST_FOLLOWED:
            oldest = next(iter(self._had))
            del self._had[oldest], self._heard[oldest]


def _begun(reply: Reply) -> str:
    fields = {"message_id": str(reply.message_id), "text": reply.text, "after": reply.seq}
    return _json("reply.started", str(reply.pk), **fields)


def _felt(reply: Reply) -> list[str]:
    """The frame of the emotion that holds now."""
    return [_json("reply.emotion", str(reply.pk), **one) for one in reply.emotions[-1:]]


def _json(type: str, reply_id: str, **fields: object) -> str:
    return orjson.dumps({"type": type, "id": reply_id, **fields}).decode()


class Listener:
    """Gives the frames of a companion's replies where there is no socket: an event stream, or a wait for an end."""

    def __init__(self, companion: Companion) -> None:
        self.follower = Follower(companion)
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def frames(self, reply_id: UUID) -> AsyncIterator[str]:
        """The reply's frames as JSON, from its beginning until it ends."""
        self.follower.begin(reply_id)
        for frame in await self.follower.catch_up(str(reply_id)):
            yield frame
        while not self.follower.is_ended(reply_id):
            for frame in await self._next(str(reply_id)):
                yield frame

    async def _next(self, reply_id: str) -> list[str]:
        try:
            message = await asyncio.wait_for(self.heard.get(), SILENCE_SECONDS)
        except TimeoutError:
            return await self.follower.catch_up(reply_id)
        is_ours = message["type"] == "reply.frames" and message["id"] == reply_id
        return await self.follower.take(reply_id, message["frames"]) if is_ours else []

    async def end_of(self, reply_id: UUID, seconds: float) -> None:
        """Wait until the reply ends, at most so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                async for _ in self.frames(reply_id):
                    pass

    async def hear(self, heard: BaseChannelLayer, channel: str) -> None:
        """Take in what is said on the channel, until cancelled: then the layer gives the channel up."""
        while True:
            self.heard.put_nowait(await heard.receive(channel))


@asynccontextmanager
async def listening(companion: Companion) -> AsyncIterator[Listener]:
    """A listener that hears everything from now on; while Redis is away it looks every few seconds."""
    listener, group, here = Listener(companion), group_of(companion.pk), outlet()
    ear, channel, hearing = listener.heard.put_nowait, "", None
    try:
        with contextlib.suppress(*AWAY):
            channel = await new_channel()
            hearing = asyncio.create_task(listener.hear(layer(), channel))
            await layer().group_add(group, channel)
        here.listen(group, ear)
        yield listener
    finally:
        here.leave(group, ear)
        if hearing:
            with contextlib.suppress(*AWAY):
                await layer().group_discard(group, channel)
            hearing.cancel()
