"""Slots of the chat server: people's talks go first, and background calls wait until a talk pauses.

A talk holds a slot from its message until a little after its answer. Background calls take the slots that are left, one
each, and give theirs up when a talk wants it; a call that gets none in time is postponed. Slots are leases in Redis,
counted for each server over all processes, and lapse unless renewed; without Redis nobody waits. For a person's own
servers only the calls are counted, for all of them together, so that a slow one holds few of the worker's threads.
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

LEASE_SECONDS = 15.0  # of a talk's or a call's slot; renewed long before it ends
LOOK_SECONDS = 0.5  # between two checks whether a slot is free, and whether a call may keep its own
# After this a call is postponed, so that the worker's thread is free for other work, such as due reminders.
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
# If talks and calls together hold more slots than there are, the call that renews next gives its slot up.
RENEW = f"""{PRUNE}
redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[3])
if redis.call('ZCARD', KEYS[1]) + redis.call('ZRANK', KEYS[2], ARGV[3]) >= tonumber(ARGV[1]) then return 0 end
return 1
"""


def get_slot_keys(provider: ChatProvider) -> tuple[str, str]:
    """Return the Redis keys of the talks and of the calls that hold slots of a server, or of a person's own servers."""
    server = f"own:{provider.user_id}" if provider.is_own else provider.base_url
    return f"kith:slots:talks:{server}", f"kith:slots:calls:{server}"


async def _eval(provider: ChatProvider, script: str, *arguments: object) -> bool:
    return bool(await get_redis().eval(script, 2, *get_slot_keys(provider), *map(str, arguments)))


# -- talks


async def note_talks(provider: ChatProvider, whose: Iterable[object], seconds: float = LEASE_SECONDS) -> None:
    """Hold a slot of the provider for each talk, by an id such as its companion's, for `seconds` from now."""
    if provider.slots and not provider.is_own and (ids := list(whose)):
        with suppress(*UNAVAILABLE):
            await _eval(provider, NOTE_TALKS, seconds, *ids)


async def note_pause(provider: ChatProvider, whose: object) -> None:
    """Hold the talk's slot for LLM_QUIET_SECONDS more, in which its person may go on talking."""
    await note_talks(provider, [whose], settings.LLM_QUIET_SECONDS)


# -- calls in the background


async def run_in_pause(
    call: Callable[[], Coroutine[Any, Any, None]],
    provider: ChatProvider,
    wait_seconds: float = MAX_WAIT_SECONDS,
) -> None:
    """Run the call once the provider has a slot for it. If a talk wants the slot, cancel the call and rerun it later.

    Raise ProviderBusy if, once `wait_seconds` have passed, the call has no slot or loses it to a talk. A call that kept
    its slot then would make a person wait, on a slow machine for long.
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
    """Run the call, renewing its slot. Return True if it ended, or False if it was cancelled to free its slot."""
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
