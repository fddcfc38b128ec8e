"""Which provider may be asked now: a circuit breaker and rate limits for each, counted in Redis over all processes.

A breaker opens after MAX_FAILURES failures in a row. After a pause, which doubles with each failed trial, it lets one
trial request through, and an answer closes it. Limits count minutes and days in UTC. If Redis cannot be reached, every
request is let through.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.conf import settings
from redis.exceptions import RedisError

from jobs.background import get_redis
from providers.chat.events import Messages, Usage
from providers.chat_provider import ChatProvider
from providers.errors import LimitReached, ModelMissing, ProviderBusy, ProviderError
from providers.failures import may_another_server_answer
from providers.tokens import estimate_messages

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
local requests, tokens = tonumber(ARGV[1]), tonumber(ARGV[2])
if requests > 0 and read('requests') >= requests or tokens > 0 and read('tokens') >= tokens then return 'limit' end
if read('open_until') > 0 then
    if now < math.max(read('open_until'), read('trial_until')) then return 'open' end
    write('trial_until', now + ARGV[3])
end
redis.call('HINCRBY', KEYS[1], 'requests', 1)
redis.call('EXPIRE', KEYS[1], ARGV[4])
return ''
"""
NOTE_ANSWER = f"""{STATE}
redis.call('HDEL', KEYS[1], 'failures', 'failed_since', 'open_until', 'pause', 'trial_until')
redis.call('HINCRBY', KEYS[1], 'tokens', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
"""
NOTE_FAILURE = f"""{STATE}
redis.call('HINCRBY', KEYS[1], 'tokens', ARGV[6])
redis.call('EXPIRE', KEYS[1], ARGV[5])
if ARGV[7] == '' then return end
if read('open_until') > now then return end
local pause = 0
if read('open_until') > 0 then
    pause = math.min(read('pause') * 2, ARGV[4])
else
    if now - read('failed_since') > tonumber(ARGV[2]) then write('failed_since', now, 'failures', 0) end
    if redis.call('HINCRBY', KEYS[1], 'failures', 1) >= tonumber(ARGV[1]) then pause = tonumber(ARGV[3]) end
end
if pause > 0 then write('pause', pause, 'open_until', now + pause, 'trial_until', 0) end
"""


def get_admission_key(provider: ChatProvider) -> str:
    """Return the Redis key of the provider's breaker and counts, which start anew if its address or model changes."""
    row = f"{provider.user_id or ''}:{provider.id or 'environment'}"
    return f"kith:provider:{row}:{provider.base_url} {provider.model}"


async def _eval(provider: ChatProvider, script: str, *arguments: object) -> Any:
    return await get_redis().eval(script, 1, get_admission_key(provider), *map(str, arguments))


async def choose(providers: Sequence[ChatProvider], *, passes_breakers: bool = False) -> ChatProvider:
    """Return the first of the providers that may be asked now, and count the request.

    If none may, raise LimitReached, ProviderBusy if all breakers are open, or ModelMissing if `providers` is empty.
    With `passes_breakers`, as for a person who waits, return the first one whose breaker is open instead, if any.
    """
    refusals = []
    for provider in providers:
        try:
            limits = provider.requests_per_minute or 0, provider.tokens_per_day or 0
            refusal = await _eval(provider, ADMIT, *limits, TRIAL_SECONDS, KEPT_SECONDS)
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


async def note_answer(provider: ChatProvider, usage: Usage | None = None) -> None:
    """Close the provider's breaker, and count the tokens used towards its limit."""
    tokens = usage.prompt_tokens + usage.completion_tokens if usage else 0
    with suppress(*UNAVAILABLE):
        await _eval(provider, NOTE_ANSWER, tokens, KEPT_SECONDS)


async def note_error(provider: ChatProvider, error: ProviderError) -> None:
    """Count the tokens that the failed call used, and the failure itself for the breaker if the server is to blame."""
    tokens = error.usage.prompt_tokens + error.usage.completion_tokens if error.usage else 0
    pauses = FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS
    counts = "yes" if may_another_server_answer(error) else ""
    with suppress(*UNAVAILABLE):
        await _eval(
            provider, NOTE_FAILURE, MAX_FAILURES, WINDOW_SECONDS, *pauses, KEPT_SECONDS, tokens, counts
        )


def leave_out_small(
    providers: Sequence[ChatProvider], messages: Messages, tools: Messages = ()
) -> list[ChatProvider]:
    """Return the first provider, and the others whose context is as large or has room for the prompt and its answer.

    A provider with less is left out since some servers cut a prompt silently.
    """
    if len(providers) < 2:
        return list(providers)
    first, *others = providers
    needed = min(estimate_messages(messages, tools) + settings.ANSWER_TOKENS, first.context_tokens)
    return [first, *(other for other in others if other.context_tokens >= needed)]
