"""Listening to a companion from where there is no socket: an event stream, or a wait for a reply's end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import orjson
from channels.layers import BaseChannelLayer

from companions.replies.layer import layer
from companions.replies.publish import group_of

ENDINGS = {"reply.done", "reply.stopped", "reply.interrupted", "reply.failed"}


class Listener:
    """Gives the frames of a companion's replies as they are sent."""

    def __init__(self, layer: BaseChannelLayer, channel: str) -> None:
        self.layer, self.channel = layer, channel

    async def frames(self, reply_id: UUID, seconds: float) -> AsyncIterator[str]:
        """The reply's frames as JSON until it ends; after so many seconds it gives up quietly."""
        async with asyncio.timeout(seconds):
            while True:
                message = await self.layer.receive(self.channel)
                if message["type"] != "reply.frames" or message["id"] != str(reply_id):
                    continue
                for _, frame in message["frames"]:
                    yield frame
                if any(is_ending(frame) for seq, frame in message["frames"] if seq is None):
                    return

    async def end_of(self, reply_id: UUID, seconds: float) -> None:
        """Wait until the reply ends, at most so long."""
        try:
            async for _ in self.frames(reply_id, seconds):
                pass
        except TimeoutError:
            return


def is_ending(frame: str) -> bool:
    return orjson.loads(frame)["type"] in ENDINGS


@asynccontextmanager
async def listening(companion_id: UUID) -> AsyncIterator[Listener]:
    """A listener that hears everything from now on."""
    heard = layer()
    channel = await heard.new_channel()
    await heard.group_add(group_of(companion_id), channel)
    try:
        yield Listener(heard, channel)
    finally:
        await heard.group_discard(group_of(companion_id), channel)
