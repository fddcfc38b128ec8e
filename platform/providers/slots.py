"""Slots of the chat server: whoever talks goes first, and calls in the background wait for the talk to pause.

A talk holds a slot from its message until a little after its answer. Background calls take what is left, one a slot,
and give it up when a talk wants it; one that finds no pause is put off. Counted in Redis for each server over all
processes; what its process no longer renews lapses, and without Redis nobody waits. Of a person's own servers the calls
alone are counted, for all of them together, so that a slow one holds few of the worker's threads.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

from django.conf import settings
from redis.exceptions import RedisError

from jobs.background import get_redis
from providers.chat_provider import ChatProvider
from providers.errors import ProviderBusy

LEASE_SECONDS = 15.0  # of a talk and of a call; renewed long before
LOOK_SECONDS = 0.5  # between two looks at whether there is a slot, and whether it is still ours
# Then it is put off, and the worker's thread given to other work, as reminders that are due.
MAX_WAIT_SECONDS = 3.0
UNAVAILABLE = (RedisError, OSError)

PRUNE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
for _, key in ipairs(KEYS) do redis.call('ZREMRANGEBYSCORE', key, '-inf', now) end
"""
NOTE_TALKS = f"""{PRUNE}
for number = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[number]) end
redis.call('EXPIRE', KEYS[1], math.ceil(ARGV[1]) + 1)
"""
TAKE = f"""{PRUNE}
if redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[3])
return 1
"""
# Where talks want more slots than are left, the calls give theirs up, each by its place among them.
RENEW = f"""{PRUNE}
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[3])
if redis.call('ZCARD', KEYS[1]) + redis.call('ZRANK', KEYS[2], ARGV[3]) >= tonumber(ARGV[1]) then return 0 end
return 1
"""


def get_slot_keys(provider: ChatProvider) -> tuple[str, str]:
    """Return the keys in Redis of the talks and of the calls that hold slots of the server, or of a person's own ones."""
    server = f"own:{provider.user_id}" if provider.is_own else provider.base_url
    return f"kith:slots:talks:{server}", f"kith:slots:calls:{server}"


async def _eval(provider: ChatProvider, script: str, *arguments: object) -> bool:
    return bool(await get_redis().eval(script, 2, *get_slot_keys(provider), *map(str, arguments)))


# -- talks


async def note_talks(provider: ChatProvider, whose: Iterable[object], seconds: float = LEASE_SECONDS) -> None:
    """Keep a slot of the provider for each of these talks, by their companions' ids, for so many seconds from now."""
    if provider.slots and not provider.is_own and (ids := list(whose)):
        with suppress(*UNAVAILABLE):
            await _eval(provider, NOTE_TALKS, seconds, *ids)


async def note_pause(provider: ChatProvider, whose: object) -> None:
    """Keep the talk's slot only for the little while in which its person may go on."""
    await note_talks(provider, [whose], settings.LLM_QUIET_SECONDS)


# -- calls in the background


async def run_in_pause(
    call: Callable[[], Coroutine[Any, Any, None]],
    provider: ChatProvider,
    wait_seconds: float = MAX_WAIT_SECONDS,
) -> None:
    """Run the call of the provider once there is a slot for it; broken off where a talk wants it, it is run anew later.

    Raise ProviderBusy where that has not come to an end after `wait_seconds` in all, and a talk wants the slot: on a slow
    machine a call that held it would keep whoever talks from their answer. So it is where other calls hold all slots.
    """
    if not provider.slots:
        await call()
        return
    deadline = time.monotonic() + wait_seconds
    while True:
        id = uuid.uuid4().hex
        try:
            is_taken = await _eval(provider, TAKE, provider.slots, LEASE_SECONDS, id)
        except UNAVAILABLE:
            await call()
            return
        if is_taken:
            try:
                if await _run_holding(id, call, provider):
                    return
            finally:
                with suppress(*UNAVAILABLE):
                    await get_redis().zrem(get_slot_keys(provider)[1], id)
        if time.monotonic() >= deadline:
            raise ProviderBusy("No slot was free for long enough")
        await asyncio.sleep(LOOK_SECONDS)


async def _run_holding(
    id: str, call: Callable[[], Coroutine[Any, Any, None]], provider: ChatProvider
) -> bool:
    """Return whether the call came to its end; False where it gave its slot up to a talk."""
    running = asyncio.ensure_future(call())
    try:
        while not (await asyncio.wait({running}, timeout=LOOK_SECONDS))[0]:
            is_wanted = False
            with suppress(*UNAVAILABLE):
                is_wanted = not await _eval(provider, RENEW, provider.slots, LEASE_SECONDS, id)
            if is_wanted:
                return False
        await running
    finally:
        running.cancel()
        await asyncio.wait({running})
    return True
