"""Background calls of the chat model wait for the talk to pause, one a slot; whoever talks never waits for them."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import nullcontext
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings as kith
from redis.asyncio import Redis

from providers.availability import get_slot_keys, note_pause, note_talks, run_in_pause
from providers.chat.completion import complete
from providers.chat_provider import OWN_SLOTS, ChatProvider, count_slots
from providers.errors import ProviderBusy
from providers.selection import get_provider
from providers.tokens import Metered, estimate_messages, metered
from tests.fixtures.rehearsal import RehearsalServer

Call = Callable[[], Coroutine[Any, Any, None]]


class Calls:
    """Calls that go on until they are let go; how often each began, and how many were under way at most."""

    def __init__(self) -> None:
        self.begun = self.ended = self.under_way = self.most = 0
        self.may_end = asyncio.Event()

    async def call(self) -> None:
        self.begun += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.may_end.wait()
            self.ended += 1
        finally:
            self.under_way -= 1

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                await asyncio.sleep(0.02)


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture(autouse=True)
async def redis(settings: Any) -> AsyncIterator[Redis]:
    settings.LLM_SLOTS, settings.LLM_QUIET_SECONDS = 1, 0.3
    async with Redis.from_url(kith.REDIS_URL) as client:
        await client.delete(*get_slot_keys(get_provider()))
        yield client
        await client.delete(*get_slot_keys(get_provider()))


async def test_a_call_waits_until_the_talk_has_paused(calls: Calls) -> None:
    await note_talks(get_provider(), ["mira"])
    waiting = asyncio.create_task(run_in_pause(calls.call, get_provider()))
    await asyncio.sleep(0.8)
    assert calls.begun == 0
    await note_pause(get_provider(), "mira")
    await calls.until(lambda: calls.begun == 1)
    calls.may_end.set()
    await waiting
    assert calls.ended == 1


async def test_one_call_at_a_time_is_made(calls: Calls) -> None:
    waiting = [asyncio.create_task(run_in_pause(calls.call, get_provider())) for _ in range(3)]
    await calls.until(lambda: calls.begun == 1)
    await asyncio.sleep(0.8)
    assert calls.begun == 1
    calls.may_end.set()
    await asyncio.gather(*waiting)
    assert (calls.ended, calls.most) == (3, 1)


async def test_a_server_of_two_slots_serves_a_talk_and_a_call(calls: Calls, settings: Any) -> None:
    settings.LLM_SLOTS = 2
    await note_talks(get_provider(), ["mira"])
    waiting = [asyncio.create_task(run_in_pause(calls.call, get_provider())) for _ in range(2)]
    await calls.until(lambda: calls.begun == 1)
    await asyncio.sleep(0.8)
    assert calls.begun == 1
    calls.may_end.set()
    await asyncio.gather(*waiting)
    assert calls.most == 1


async def test_a_call_gives_way_to_a_talk_and_is_made_anew(calls: Calls) -> None:
    waiting = asyncio.create_task(run_in_pause(calls.call, get_provider()))
    await calls.until(lambda: calls.begun == 1)
    await note_talks(get_provider(), ["mira"])
    await calls.until(lambda: calls.under_way == 0)
    await note_pause(get_provider(), "mira")
    await calls.until(lambda: calls.begun == 2)
    calls.may_end.set()
    await waiting
    assert (calls.begun, calls.ended) == (2, 1)


async def test_who_talks_without_end_is_answered_and_the_call_put_off(calls: Calls) -> None:
    await note_talks(get_provider(), ["mira"], 60)
    with pytest.raises(ProviderBusy):
        await run_in_pause(calls.call, get_provider(), wait_seconds=0.6)
    assert calls.begun == 0


async def test_a_call_that_has_its_slot_may_take_longer_than_it_would_wait(calls: Calls) -> None:
    waiting = asyncio.create_task(run_in_pause(calls.call, get_provider(), wait_seconds=0.1))
    await calls.until(lambda: calls.begun == 1)
    await asyncio.sleep(0.8)
    calls.may_end.set()
    await waiting
    assert (calls.begun, calls.ended) == (1, 1)


async def test_what_a_killed_process_held_lapses(calls: Calls, redis: Redis) -> None:
    await redis.zadd(get_slot_keys(get_provider())[1], {"of a killed worker": time.time() + 0.5})
    await redis.zadd(get_slot_keys(get_provider())[0], {"of a killed server": time.time() + 0.5})
    calls.may_end.set()
    await run_in_pause(calls.call, get_provider())
    assert calls.ended == 1
    assert await redis.zcard(get_slot_keys(get_provider())[1]) == 0


async def test_a_cancelled_call_leaves_its_slot(calls: Calls, redis: Redis) -> None:
    waiting = asyncio.create_task(run_in_pause(calls.call, get_provider()))
    await calls.until(lambda: calls.begun == 1)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert (calls.under_way, await redis.zcard(get_slot_keys(get_provider())[1])) == (0, 0)


async def test_without_redis_nobody_waits(calls: Calls, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    await note_talks(get_provider(), ["mira"])
    calls.may_end.set()
    await run_in_pause(calls.call, get_provider())
    assert calls.ended == 1


async def test_a_failure_is_the_callers_and_leaves_the_slot(redis: Redis) -> None:
    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await run_in_pause(fail, get_provider())
    assert await redis.zcard(get_slot_keys(get_provider())[1]) == 0


async def test_a_persons_own_servers_hold_two_calls_in_all_and_nobody_elses(calls: Calls) -> None:
    def own(user_id: int, host: str) -> ChatProvider:
        return ChatProvider(f"https://{host}/v1", "mine", "", 8192, OWN_SLOTS, user_id=user_id)

    alice, bob = uuid4().int, uuid4().int
    under_way = [
        asyncio.create_task(run_in_pause(calls.call, own(alice, host))) for host in ("a.net", "b.net")
    ]
    await calls.until(lambda: calls.begun == 2)
    with pytest.raises(ProviderBusy):
        await run_in_pause(calls.call, own(alice, "c.net"), wait_seconds=0.0)
    under_way.append(asyncio.create_task(run_in_pause(calls.call, own(bob, "a.net"))))
    await calls.until(lambda: calls.begun == 3)
    await note_talks(own(alice, "a.net"), ["mira", "noor"])
    await asyncio.sleep(0.8)
    assert calls.under_way == 3  # a talk takes none of these slots
    calls.may_end.set()
    await asyncio.gather(*under_way)
    assert calls.ended == 3
    await run_in_pause(calls.call, own(alice, "c.net"), wait_seconds=0.0)


@pytest.mark.parametrize(
    ("address", "slots"),
    [
        ("http://127.0.0.1:11434/v1", 1),
        ("http://192.168.1.7:8080/v1", 1),
        ("http://[::1]:8080/v1", 1),
        ("http://ollama:11434/v1", 1),
        ("http://localhost:1/v1", 1),
        ("https://api.example.com/v1", 0),
        ("http://93.184.216.34/v1", 0),
        ("", 0),
    ],
)
def test_a_server_at_hand_is_taken_to_answer_one_at_a_time(address: str, slots: int) -> None:
    assert count_slots(address) == slots


async def test_a_call_that_was_never_made_is_not_recorded(settings: Any) -> None:
    settings.CHAT = {
        "base_url": "http://127.0.0.1:9/v1",
        "api_key": "",
        "model": "none",
        "is_rehearsal": False,
    }
    await note_talks(get_provider(), ["mira"], 60)

    def ask() -> list[Metered]:
        with metered() as calls, pytest.raises(ProviderBusy):
            complete(get_provider(), [{"role": "user", "content": "Hello"}], timeout_seconds=0.3)
        return calls

    assert await asyncio.to_thread(ask) == []


@pytest.mark.parametrize("goes_on", [True, False])
async def test_what_was_broken_off_for_a_talk_is_counted(
    rehearsal: RehearsalServer, settings: Any, goes_on: bool
) -> None:
    """With the try that came to its end, or without one."""
    settings.CHAT = {"base_url": rehearsal.url, "api_key": "", "model": "rehearsal", "is_rehearsal": False}
    pieces = [f"{number} and " for number in range(100)]
    usage = {"prompt_tokens": 7, "completion_tokens": 5}
    rehearsal.script({"pieces": pieces, "delay_between": 0.1}, {"answer": "Yes.", "usage": usage})
    prompt = [{"role": "user", "content": "Hello"}]

    def ask() -> list[Metered]:
        with metered() as calls, nullcontext() if goes_on else pytest.raises(ProviderBusy):
            complete(get_provider(), prompt, timeout_seconds=20.0 if goes_on else 1.2)
        return calls

    asking = asyncio.create_task(asyncio.to_thread(ask))
    while not rehearsal.requests():
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.05)
    await note_talks(get_provider(), ["mira"], 1.5 if goes_on else 60)
    (call,) = await asking
    assert call.is_estimated
    whole = (7, 5) if goes_on else (0, 0)
    assert call.prompt_tokens == estimate_messages(prompt) + whole[0]
    assert whole[1] < call.completion_tokens < 60
    assert (call.error is None) is goes_on
