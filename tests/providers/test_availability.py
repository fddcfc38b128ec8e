"""A provider that fails is left alone for a while, and one is asked no more than operators allow; in all processes."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from jobs.sandbox import SOURCE_ROOT
from providers.availability import (
    FIRST_PAUSE_SECONDS,
    MAX_FAILURES,
    MAX_PAUSE_SECONDS,
    choose,
    choose_next,
    get_state_key,
    is_failing,
    note_answer,
    note_error,
)
from providers.chat.events import Usage
from providers.chat_provider import ChatProvider
from providers.errors import (
    AnswerWithheld,
    ContextTooLong,
    LimitReached,
    ModelMissing,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)

FIRST = ChatProvider("http://a.example/v1", "m", "", 8192, 0, id=1)
OTHER = ChatProvider("http://b.example/v1", "m", "", 8192, 0, id=2)
AWAY = ProviderUnavailable("Connection refused")


@pytest.fixture(autouse=True)
async def redis(settings: Any) -> AsyncIterator[Redis]:
    async with Redis.from_url(settings.REDIS_URL) as client:
        await client.delete(get_state_key(FIRST), get_state_key(OTHER))
        yield client


async def open_breaker(times: int = MAX_FAILURES) -> None:
    for _ in range(times):
        await note_error(FIRST, AWAY)


async def end_pause(redis: Redis) -> None:
    await redis.hset(get_state_key(FIRST), "open_until", time.time() - 1)


async def test_a_breaker_opens_after_failures_in_a_row() -> None:
    await open_breaker(MAX_FAILURES - 1)
    assert await choose([FIRST, OTHER]) == FIRST
    await note_answer(FIRST)
    await open_breaker(MAX_FAILURES - 1)
    assert await choose([FIRST, OTHER]) == FIRST
    await open_breaker(1)
    assert await choose([FIRST, OTHER]) == OTHER
    with pytest.raises(ProviderBusy):
        await choose([FIRST])
    assert await choose([FIRST], passes_breakers=True) == FIRST
    with pytest.raises(ModelMissing):
        await choose([])


async def test_one_that_is_left_alone_is_not_asked_in_place_of_one_that_failed() -> None:
    await open_breaker()
    assert await choose_next([FIRST, OTHER], None) == (OTHER, [])
    assert await choose_next([FIRST, OTHER], AWAY, passes_breakers=True) == (OTHER, [])
    assert await choose_next([FIRST], None, passes_breakers=True) == (FIRST, [])
    with pytest.raises(ProviderUnavailable) as raised:
        await choose_next([FIRST], AWAY, passes_breakers=True)
    assert raised.value is AWAY


async def test_failures_long_apart_open_nothing(redis: Redis) -> None:
    await open_breaker(MAX_FAILURES - 1)
    await redis.hset(get_state_key(FIRST), "failed_since", time.time() - 3600)
    await open_breaker(1)
    assert await choose([FIRST, OTHER]) == FIRST


async def test_a_single_failure_is_not_told_for_hours_but_an_open_breaker_is(redis: Redis) -> None:
    assert not await is_failing(FIRST)
    await open_breaker(1)
    assert await is_failing(FIRST)
    await redis.hset(get_state_key(FIRST), "failed_since", time.time() - 3600)
    assert not await is_failing(FIRST)
    await open_breaker()
    await redis.hset(get_state_key(FIRST), "failed_since", time.time() - 3600)
    await end_pause(redis)
    assert await is_failing(FIRST)
    await note_answer(FIRST)
    assert not await is_failing(FIRST)


async def test_after_a_pause_one_request_is_let_through(redis: Redis) -> None:
    await open_breaker()
    await end_pause(redis)
    assert await choose([FIRST, OTHER], only_looks=True) == FIRST  # which takes nobody's place
    assert [await choose([FIRST, OTHER]) for _ in range(3)] == [FIRST, OTHER, OTHER]
    await note_answer(FIRST)
    assert await choose([FIRST, OTHER]) == FIRST


async def test_each_trial_that_fails_doubles_the_pause_up_to_a_bound(redis: Redis) -> None:
    await open_breaker()
    pauses = []
    for _ in range(7):
        pauses.append(float(await redis.hget(get_state_key(FIRST), "pause")))
        await note_error(FIRST, AWAY)  # of a request that was under way: no trial
        await end_pause(redis)
        assert await choose([FIRST, OTHER]) == FIRST
        await note_error(FIRST, AWAY)
        assert await choose([FIRST, OTHER]) == OTHER
    assert pauses == [min(FIRST_PAUSE_SECONDS * 2**trial, MAX_PAUSE_SECONDS) for trial in range(7)]


@pytest.mark.parametrize(
    ("error", "opens"),
    [
        *((ProviderUnavailable("Down", status=503), True), (ProviderUnavailable("Slow", status=429), True)),
        *((ProviderRefused("Bad key", status=401), True), (ProviderRefused("Pay", status=402), True)),
        (ProviderUnavailable("It gave no first piece within 120 s"), True),
        *((ProviderRefused("Bad request", status=400), False), (ContextTooLong("Too long"), False)),
        *((ProviderBusy("People talk"), False), (AnswerWithheld("Filtered"), False)),
    ],
)
async def test_what_tells_of_the_request_opens_no_breaker(error: ProviderError, opens: bool) -> None:
    for _ in range(MAX_FAILURES):
        await note_error(FIRST, error)
    assert await choose([FIRST, OTHER]) == (OTHER if opens else FIRST)


async def test_no_more_requests_a_minute_than_operators_allow() -> None:
    limited = ChatProvider("http://a.example/v1", "m", "", 8192, 0, id=1, requests_per_minute=2)
    assert [await choose([limited], only_looks=True) for _ in range(3)] == [limited] * 3
    assert [await choose([limited]) for _ in range(2)] == [limited] * 2
    with pytest.raises(LimitReached):  # a minute may begin in between
        _ = [await choose([limited], passes_breakers=True) for _ in range(3)]
    assert await choose([limited, OTHER]) == OTHER


async def test_no_more_tokens_a_day_than_operators_allow() -> None:
    limited = ChatProvider("http://a.example/v1", "m", "", 8192, 0, id=1, tokens_per_day=1000)
    await note_answer(limited, Usage(900, 99))
    assert await choose([limited]) == limited
    await note_error(limited, ProviderUnavailable("Cut", usage=Usage(1, 0)))
    with pytest.raises(LimitReached):
        await choose([limited], passes_breakers=True)


async def test_without_redis_nobody_is_held_up(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9"
    await open_breaker()
    await note_answer(FIRST)
    assert await choose([FIRST, OTHER]) == FIRST


OTHER_PROCESS = """
import asyncio, sys
import django
django.setup()
from providers.availability import choose
from providers.errors import ProviderBusy
from tests.providers.test_availability import FIRST, OTHER, open_breaker
async def main():
    for deed in sys.stdin:
        if deed.startswith("fail"):
            await open_breaker(int(deed.split()[1]))
            print("failed", flush=True)
        else:
            chosen = await asyncio.gather(*(choose([FIRST, OTHER]) for _ in range(20)))
            print(chosen.count(FIRST), flush=True)
asyncio.run(main())
"""


async def test_a_breaker_is_one_for_all_processes(redis: Redis) -> None:
    """Another process and this one see failures and choose at the same moment: one request is let through as a trial."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    environment["PYTHONPATH"] = os.pathsep.join([str(SOURCE_ROOT.parent), str(SOURCE_ROOT)])
    command, pipe = [sys.executable, "-c", OTHER_PROCESS], subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdin
        assert other.stdout

        async def choose_in_both() -> list[int]:
            """How many of twenty requests each of the two may send to FIRST."""
            print("choose", file=other.stdin, flush=True)
            mine = await asyncio.gather(*(choose([FIRST, OTHER]) for _ in range(20)))
            return [mine.count(FIRST), int(other.stdout.readline())]

        print(f"fail {MAX_FAILURES - 2}", file=other.stdin, flush=True)
        assert other.stdout.readline() == "failed\n"
        assert await choose_in_both() == [20, 20]
        await open_breaker(2)
        assert await choose_in_both() == [0, 0]
        await end_pause(redis)
        assert sorted(await choose_in_both()) == [0, 1]
        other.kill()


async def test_a_persons_own_provider_is_not_the_installations_of_that_number() -> None:
    await open_breaker()
    own = replace(FIRST, user_id=1)
    assert await choose([own]) == own
