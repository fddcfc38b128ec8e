"""How a reply's frames reach whoever follows it, in this process and in others, and what lies in Redis of them."""

import asyncio
from contextlib import aclosing
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django.conf import settings
from redis.asyncio import Redis

from companions import events
from companions.events import Event, group_of_companion, hub
from companions.replies import streams
from companions.replies.broadcast import Publisher
from companions.replies.streams import SEAL, Entry, Place

COMPANION = uuid4()
GROUP = group_of_companion(COMPANION)


async def published(pieces: list[str]) -> list[str]:
    """A reply of these pieces, as it lies in Redis."""
    publisher = Publisher(COMPANION, uuid4())
    for piece in pieces:
        publisher.add("reply.piece", piece)
    await publisher.close("reply.done")
    return [entry.json for entry in await streams.read_entries(publisher.reply_id, Place())]


def frames_of(events: list[Event]) -> list[str]:
    return [json for event in events for _place, _seq, json in event["frames"]]


async def _heard(group: str) -> tuple[list[str], list[str], list[str]]:
    """What lies in Redis, what a listener to the group heard in this process, and what any other could hear."""
    heard: asyncio.Queue[Event] = asyncio.Queue()
    async with aclosing(Redis.from_url(settings.REDIS_URL)) as redis, redis.pubsub() as elsewhere:
        await elsewhere.subscribe(settings.EVENTS_CHANNEL)
        await elsewhere.get_message(timeout=30)
        await hub().listen(group, heard.put_nowait)
        kept = await published(["Well, ", "well."])
        told: list[Any] = []
        while message := await elsewhere.get_message(timeout=0.3):
            told += [event for _group, event in orjson.loads(message["data"])]
        hub().leave(group, heard.put_nowait)
    return kept, frames_of([heard.get_nowait() for _ in range(heard.qsize())]), frames_of(told)


def test_whoever_follows_hears_each_frame_once_in_any_process() -> None:
    kept, heard, told = asyncio.run(_heard(GROUP))
    assert len(kept) == 2
    assert kept == heard == told


def test_who_follows_another_companion_hears_nothing() -> None:
    _kept, heard, told = asyncio.run(_heard(group_of_companion(uuid4())))
    assert heard == []
    assert told


async def _appended_twice(reply_id: str) -> tuple[list[bool], list[str]]:
    """Whether a stream takes the same entries again, as after a lost answer, and others once it is sealed."""
    entries = [Entry.of({"n": n}, Place(n, 0), n) for n in (1, 2)]
    taken = [
        *await streams.append_entries([(reply_id, entries)]),
        *await streams.append_entries([(reply_id, entries)]),
    ]
    await asyncio.to_thread(streams.seal_stream, reply_id, Place())
    taken += await streams.append_entries([(reply_id, [Entry.of({"n": 3}, Place(3, 0), 3)])])
    return taken, [entry.json for entry in await streams.read_entries(reply_id, Place())]


def test_what_is_appended_again_is_there_once_and_a_sealed_stream_takes_nothing() -> None:
    taken, kept = asyncio.run(_appended_twice(str(uuid4())))
    assert taken == [True, True, False]
    assert kept == ['{"n":1}', '{"n":2}']
    assert Place(3, 0) < SEAL


async def _listened_without_redis() -> bool:
    await asyncio.wait_for(hub().listen(GROUP, print), 60)
    is_subscribed = hub().is_subscribed
    hub().leave(GROUP, print)
    return is_subscribed


async def test_whoever_stops_listening_while_redis_answers_is_let_go() -> None:
    for steps in range(4):
        listening = asyncio.create_task(hub().listen(GROUP, print))
        while not hub().is_subscribed:
            await asyncio.sleep(0)
        for _ in range(steps):
            await asyncio.sleep(0)
        is_asked_to_end = listening.cancel()
        await asyncio.wait({listening})
        assert listening.cancelled() is is_asked_to_end
        hub().leave(GROUP, print)


async def _renewing() -> list[str]:
    """Which frames of a reply renew the expiry of its stream."""
    reply_id = uuid4()
    places = [Place(0, 1), *(Place(seq) for seq in range(1, 65)), Place(64, 1), streams.ENDING]
    renewed = []
    async with aclosing(Redis.from_url(settings.REDIS_URL)) as redis:
        for place in places:
            await streams.append_entries([(str(reply_id), [Entry.of({}, place, min(place.seq, 64))])])
            renewed += [place.id] if await redis.persist(f"kith:reply:{reply_id}") else []
    return renewed


def test_a_stream_expires_an_hour_after_its_newest_frames() -> None:
    """Each frame that is no piece renews the expiry, from the first to the ending, and so does every 32nd piece."""
    assert asyncio.run(_renewing()) == ["0-1", "32-0", "64-0", "64-1", streams.ENDING.id]


def test_who_listens_does_not_wait_for_redis_that_is_away(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(events, "SUBSCRIBE_TIMEOUT_SECONDS", 3600)
    assert not asyncio.run(_listened_without_redis())
