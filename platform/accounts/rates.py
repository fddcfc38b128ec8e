"""How often one person may ask for what costs much, counted in Redis; without Redis, in each process by itself."""

import threading
from collections import Counter
from datetime import datetime
from functools import cache

import redis
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.errors import GateError
from accounts.models import User

_here: Counter[str] = Counter()  # the counts of this process, while Redis is away
_lock = threading.Lock()
WINDOWS = {60: "a_minute", 3600: "an_hour", 86_400: "a_day"}
MOST_HERE = 10_000  # counts; then the oldest windows are forgotten


def admit_to(user: User, what: str, now: datetime) -> None:
    """Let the person in to `what`, a name in settings.RATES; GateError (429) where they came too often.

    Counted are whole windows of the clock, with what is under way and what was refused.
    """
    if settings.LIMITS:
        for most, seconds in settings.RATES[what]:
            window, gone_seconds = divmod(int(now.timestamp()), seconds)
            if _counted(f"kith:rate:{what}:{user.pk}:{seconds}:{window}", seconds) > most:
                raise _too_many(what, most, seconds, seconds - gone_seconds)


def _too_many(what: str, most: int, seconds: int, wait_seconds: int) -> GateError:
    """The refusal, with the fields of draft-ietf-httpapi-ratelimit-headers."""
    error = GateError(f"too_many_{what}_{WINDOWS[seconds]}", _in_words(wait_seconds), wait_seconds)
    policy, left = f'"{what}";q={most};w={seconds}', f'"{what}";r=0;t={wait_seconds}'
    error.headers = {**error.headers, "RateLimit-Policy": policy, "RateLimit": left}
    return error


def _counted(key: str, seconds: int) -> int:
    """How often the key was asked for, this time included."""
    try:
        counting = _client(settings.REDIS_URL).pipeline()
        counting.incr(key)
        counting.expire(key, 2 * seconds)
        return int(counting.execute()[0])
    except redis.RedisError:
        with _lock:
            _here[key] += 1
            if len(_here) > MOST_HERE:
                for old in list(_here)[: MOST_HERE // 2]:
                    del _here[old]
            return _here[key]


@cache
def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_connect_timeout=1, socket_timeout=1)


def _in_words(seconds: int) -> str:
    if seconds <= 90:
        told = ngettext(
            "That was a lot at once. Wait %(n)d second, then go on; nothing is lost.",
            "That was a lot at once. Wait %(n)d seconds, then go on; nothing is lost.",
            seconds,
        )
        return told % {"n": seconds}
    return _("That was a lot. Wait %(n)d minutes, then go on; nothing is lost.") % {"n": -(-seconds // 60)}
