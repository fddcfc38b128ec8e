"""Which provider may be asked now: a circuit breaker, rate limits and slots for each, in Redis over all processes.

A breaker opens after MAX_FAILURES failures in a row. After a pause, which doubles with each failed trial, it lets one
trial request through, and an answer closes it. Limits count minutes and days in UTC. If Redis cannot be reached, every
request is let through.

Slots let people's talks go first, and background calls wait until a talk pauses. A talk holds a slot of the chat server
from its message until a little after its answer. Background calls take the slots that are left, one each, and give
theirs up when a talk wants it; a call that gets none in time is postponed. Slots are leases, and lapse unless renewed.
For a person's own servers only the calls are counted, for all of them together, so that a slow one holds few of the
worker's threads.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any

from django.conf import settings
from redis.exceptions import RedisError

from jobs.background import get_redis
from providers.chat.events import Usage
from providers.chat_provider import ChatProvider
from providers.errors import LimitReached, ModelMissing, ProviderBusy, ProviderError
from providers.failures import may_another_server_answer

MAX_FAILURES, WINDOW_SECONDS = 5, 300  # so many failures in a row within so many seconds open a breaker
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 10, 300
TRIAL_SECONDS = 60  # after this a trial without a result counts as lost, and another is let through
KEPT_SECONDS = 2 * 86_400  # how long a provider's state stays in Redis after its last change
UNAVAILABLE = (RedisError, OSError)
OPEN, OVER_LIMIT = b"open", b"limit"

STATE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local function read(name) return tonumber(redis.call('HGET', KEYS[1], name)) or 0 end
local function write(...) redis.call('HSET', KEYS[1], ...) end
if read('minute') ~= math.floor(now / 60) then write('minute', math.floor(now / 60), 'requests', 0) end
if read('day') ~= math.floor(now / 86400) then write('day', math.floor(now / 86400), 'tokens', 0) end
"""
ADMIT = f"""{STATE}
local max_requests, max_tokens, trial_seconds, kept_seconds, looks = unpack(ARGV)
max_requests, max_tokens = tonumber(max_requests), tonumber(max_tokens)
if max_requests > 0 and read('requests') >= max_requests then return 'limit' end
if max_tokens > 0 and read('tokens') >= max_tokens then return 'limit' end
if read('open_until') > 0 then
    if now < math.max(read('open_until'), read('trial_until')) then return 'open' end
    if looks == '' then write('trial_until', now + trial_seconds) end
end
if looks ~= '' then return '' end
redis.call('HINCRBY', KEYS[1], 'requests', 1)
redis.call('EXPIRE', KEYS[1], kept_seconds)
return ''
"""
NOTE_ANSWER = f"""{STATE}
local tokens, kept_seconds = unpack(ARGV)
redis.call('HDEL', KEYS[1], 'failures', 'failed_since', 'open_until', 'pause', 'trial_until')
redis.call('HINCRBY', KEYS[1], 'tokens', tokens)
redis.call('EXPIRE', KEYS[1], kept_seconds)
"""
NOTE_FAILURE = f"""{STATE}
local tokens, kept_seconds, counts, max_failures, window_seconds, first_pause, max_pause = unpack(ARGV)
redis.call('HINCRBY', KEYS[1], 'tokens', tokens)
redis.call('EXPIRE', KEYS[1], kept_seconds)
if counts == '' or read('open_until') > now then return end
local pause = 0
if read('open_until') > 0 then
    pause = math.min(read('pause') * 2, max_pause)
else
    if now - read('failed_since') > tonumber(window_seconds) then write('failed_since', now, 'failures', 0) end
    if redis.call('HINCRBY', KEYS[1], 'failures', 1) >= tonumber(max_failures) then pause = tonumber(first_pause) end
end
if pause > 0 then write('pause', pause, 'open_until', now + pause, 'trial_until', 0) end
"""


def get_state_key(provider: ChatProvider) -> str:
    """Return the Redis key of the provider's breaker and counts, which start anew if its address or model changes."""
    row = f"{provider.user_id or ''}:{provider.id or 'environment'}"
    return f"kith:provider:{row}:{provider.base_url} {provider.model}"


async def _eval(provider: ChatProvider, script: str, *arguments: object) -> Any:
    return await get_redis().eval(script, 1, get_state_key(provider), *map(str, arguments))


async def choose(
    providers: Sequence[ChatProvider], *, passes_breakers: bool = False, only_looks: bool = False
) -> ChatProvider:
    """Return the first of the providers that may be asked now, and count the request, unless the caller `only_looks`.

    If none may, raise LimitReached, ProviderBusy if all breakers are open, or ModelMissing if `providers` is empty.
    With `passes_breakers`, as for a person who waits, return the first one whose breaker is open instead, if any.
    """
    refusals = []
    for provider in providers:
        try:
            limits = provider.requests_per_minute or 0, provider.tokens_per_day or 0
            looks = "looks" if only_looks else ""
            refusal = await _eval(provider, ADMIT, *limits, TRIAL_SECONDS, KEPT_SECONDS, looks)
        except UNAVAILABLE:
            return provider
        if not refusal:
            return provider
        refusals.append(refusal)
    if passes_breakers and OPEN in refusals:
        return providers[refusals.index(OPEN)]
    if OVER_LIMIT in refusals:
        raise LimitReached("The limit of requests in this minute or of tokens today is reached")
    if refusals:
        raise ProviderBusy("It failed several times in a row, and is asked again a little later")
    raise ModelMissing("No active provider has the model")


async def choose_next(
    providers: Sequence[ChatProvider], error: ProviderError | None, *, passes_breakers: bool = False
) -> tuple[ChatProvider, list[ChatProvider]]:
    """Return the provider to ask now, as `choose` does, and those after it, to ask if it fails.

    If none may be asked, raise `error`, with which the one before failed, if any.
    """
    try:
        provider = await choose(providers, passes_breakers=passes_breakers and error is None)
    except ProviderBusy as busy:
        raise error or busy from None
    return provider, list(providers[providers.index(provider) + 1 :])


async def is_failing(provider: ChatProvider) -> bool:
    """Return whether the provider has failed since its last answer: in the last WINDOW_SECONDS, or so often in a row that
    its breaker opened. Thus a single failure, after which nobody asks, does not count for hours. False if Redis does not
    know.
    """
    with suppress(*UNAVAILABLE):
        fields = await get_redis().hmget(get_state_key(provider), "failed_since", "open_until")
        failed_since, open_until = (float(field or 0) for field in fields)
        return open_until > 0 or failed_since > time.time() - WINDOW_SECONDS
    return False


async def note_answer(provider: ChatProvider, usage: Usage | None = None) -> None:
    """Close the provider's breaker, and count the tokens used towards its limit."""
    tokens = usage.prompt_tokens + usage.completion_tokens if usage else 0
    with suppress(*UNAVAILABLE):
        await _eval(provider, NOTE_ANSWER, tokens, KEPT_SECONDS)


async def note_error(provider: ChatProvider, error: ProviderError) -> None:
    """Count the tokens that the failed call used, and the failure itself for the breaker if the server is to blame."""
    tokens = error.usage.prompt_tokens + error.usage.completion_tokens if error.usage else 0
    counts = "yes" if may_another_server_answer(error) else ""
    breaker = MAX_FAILURES, WINDOW_SECONDS, FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS
    with suppress(*UNAVAILABLE):
        await _eval(provider, NOTE_FAILURE, tokens, KEPT_SECONDS, counts, *breaker)


# -- slots

LEASE_SECONDS = 15.0  # of a talk's or a call's slot; renewed long before it ends
LOOK_SECONDS = 0.5  # between two checks whether a slot is free, and whether a call may keep its own
# After this a call is postponed, so that the worker's thread is free for other work, such as due reminders.
MAX_WAIT_SECONDS = 3.0

PRUNE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local talks, calls = unpack(KEYS)
for _, key in ipairs(KEYS) do redis.call('ZREMRANGEBYSCORE', key, '-inf', now) end
"""
NOTE_TALKS = f"""{PRUNE}
local seconds = ARGV[1]
for place = 2, #ARGV do redis.call('ZADD', talks, now + seconds, ARGV[place]) end
redis.call('EXPIRE', talks, math.ceil(seconds) + 1)
"""
TAKE = f"""{PRUNE}
local slots, seconds, id = unpack(ARGV)
if redis.call('ZCARD', talks) + redis.call('ZCARD', calls) >= tonumber(slots) then return 0 end
redis.call('ZADD', calls, now + seconds, id)
return 1
"""
# If talks and calls together hold more slots than there are, the call that renews next gives its slot up.
RENEW = f"""{PRUNE}
local slots, seconds, id = unpack(ARGV)
redis.call('ZADD', calls, now + seconds, id)
if redis.call('ZCARD', talks) + redis.call('ZRANK', calls, id) >= tonumber(slots) then return 0 end
return 1
"""


def get_slot_keys(provider: ChatProvider) -> tuple[str, str]:
    """Return the Redis keys of the talks and of the calls that hold slots of a server, or of a person's own servers."""
    server = f"own:{provider.user_id}" if provider.is_own else provider.base_url
    return f"kith:slots:talks:{server}", f"kith:slots:calls:{server}"


async def _eval_slots(provider: ChatProvider, script: str, *arguments: object) -> bool:
    return bool(await get_redis().eval(script, 2, *get_slot_keys(provider), *map(str, arguments)))


# -- talks


async def note_talks(provider: ChatProvider, whose: Iterable[object], seconds: float = LEASE_SECONDS) -> None:
    """Hold a slot of the provider for each talk, by an id such as its companion's, for `seconds` from now."""
    if provider.slots and not provider.is_own and (ids := list(whose)):
        with suppress(*UNAVAILABLE):
            await _eval_slots(provider, NOTE_TALKS, seconds, *ids)


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
            is_taken = await _eval_slots(provider, TAKE, provider.slots, LEASE_SECONDS, id)
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
                is_wanted = not await _eval_slots(provider, RENEW, provider.slots, LEASE_SECONDS, id)
            if is_wanted:
                return False
        await running
    finally:
        running.cancel()
        await asyncio.wait({running})
    return True
