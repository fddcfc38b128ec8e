"""Who is told of a reply's frames, and by which way: at once in this process, through Redis in any other."""

import asyncio
from contextlib import aclosing
from typing import Any
from uuid import uuid4

from channels.layers import get_channel_layer
from django.conf import settings
from redis.asyncio import Redis

from companions.replies import stream
from companions.replies.layer import layer, posted
from companions.replies.publish import Ear, Publisher, group_of, outlet

COMPANION = uuid4()
GROUP = group_of(COMPANION)


async def published(pieces: list[str], ear: Ear | None = None) -> list[str]:
    """A reply of these pieces, as it lies in Redis."""
    if ear:
        outlet().listen(GROUP, ear)
    publisher = Publisher(COMPANION, uuid4())
    for one in pieces:
        publisher.add("reply.piece", one)
    await publisher.close("reply.done")
    if ear:
        outlet().leave(GROUP, ear)
    return [entry.json for entry in await stream.read(publisher.reply_id)]


async def _ways(*, is_heard_elsewhere: bool) -> tuple[list[str], list[str], list[Any]]:
    """What lies in Redis, what an ear of this process heard, and what was published, where this process subscribes."""
    here: list[dict[str, Any]] = []
    told: list[Any] = []
    channel = await layer().new_channel()
    await layer().group_add(GROUP, channel)
    async with aclosing(Redis.from_url(settings.REDIS_URL)) as redis, redis.pubsub() as elsewhere:
        if is_heard_elsewhere:
            await elsewhere.subscribe(posted(GROUP, {})[0])
            await elsewhere.get_message(timeout=5)
        kept = await published(["Well, ", "well."], here.append)
        try:
            while True:
                told.append(await asyncio.wait_for(layer().receive(channel), 0.3))
        except TimeoutError:
            pass
    await layer().group_discard(GROUP, channel)
    await get_channel_layer().flush()  # type: ignore[union-attr]
    return kept, [json for message in here for _place, _seq, json in message["frames"]], told


def test_an_ear_of_this_process_hears_each_frame_once_and_without_redis() -> None:
    kept, heard, told = asyncio.run(_ways(is_heard_elsewhere=False))
    assert len(kept) == 2
    assert heard == kept
    assert told == []


def test_another_process_that_listens_is_told_through_redis() -> None:
    kept, heard, told = asyncio.run(_ways(is_heard_elsewhere=True))
    assert heard == kept
    assert [json for message in told for _place, _seq, json in message["frames"]] == kept


def test_where_nobody_of_this_process_listens_all_is_published() -> None:
    async def counted() -> int:
        async with aclosing(Redis.from_url(settings.REDIS_URL)) as redis, redis.pubsub() as elsewhere:
            await elsewhere.subscribe(posted(GROUP, {})[0])
            await elsewhere.get_message(timeout=5)
            await published(["Well."])
            return len([one async for one in _messages(elsewhere)])

    assert asyncio.run(counted()) == 2


async def _messages(listener: Any) -> Any:
    while message := await listener.get_message(timeout=0.3):
        yield message
