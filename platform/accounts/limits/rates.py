"""Rate limits per person for expensive work, counted in Redis, or in each process by itself while Redis is away."""

import threading
from collections import Counter
from datetime import datetime

import redis
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.errors import GateError
from accounts.models import User
from jobs.background import get_blocking_redis

WINDOWS = {60: "a_minute", 3600: "an_hour", 86_400: "a_day"}
MAX_COUNTS_HERE = 10_000  # beyond this the older half is dropped
_counts_here: Counter[str] = Counter()
_lock = threading.Lock()


def admit_to(user: User, what: str, now: datetime) -> None:
    """Count one more use of `what`, a name in settings.RATES; raise GateError (429) if the person uses it too often.

    Windows are fixed, such as the clock's minutes. Refused requests count as well.
    """
    if settings.LIMITS:
        for limit, seconds in settings.RATES[what]:
            window, gone_seconds = divmod(int(now.timestamp()), seconds)
            if _count(f"kith:rate:{what}:{user.pk}:{seconds}:{window}", seconds) > limit:
                raise _build_refusal(what, limit, seconds, seconds - gone_seconds)


def _count(key: str, seconds: int) -> int:
    """Increment the key's count, and return it. In Redis it expires after two windows of `seconds`."""
    try:
        pipeline = get_blocking_redis(settings.REDIS_URL).pipeline()
        pipeline.incr(key)
        pipeline.expire(key, 2 * seconds)
        return int(pipeline.execute()[0])
    except (redis.RedisError, OSError):
        with _lock:
            _counts_here[key] += 1
            if len(_counts_here) > MAX_COUNTS_HERE:
                for oldest in list(_counts_here)[: MAX_COUNTS_HERE // 2]:
                    del _counts_here[oldest]
            return _counts_here[key]


def _build_refusal(what: str, limit: int, seconds: int, wait_seconds: int) -> GateError:
    """Return the error to raise, with the headers of draft-ietf-httpapi-ratelimit-headers."""
    if wait_seconds <= 90:
        sentence = ngettext(
            "That was a lot at once. Wait %(n)d second, then continue; nothing is lost.",
            "That was a lot at once. Wait %(n)d seconds, then continue; nothing is lost.",
            wait_seconds,
        )
        detail = sentence % {"n": wait_seconds}
    else:
        minutes = -(-wait_seconds // 60)
        detail = _("That was a lot at once. Wait %(n)d minutes, then continue; nothing is lost.") % {
            "n": minutes
        }
    error = GateError(f"too_many_{what}_{WINDOWS[seconds]}", detail, wait_seconds)
    policy, left = f'"{what}";q={limit};w={seconds}', f'"{what}";r=0;t={wait_seconds}'
    error.headers = {**error.headers, "RateLimit-Policy": policy, "RateLimit": left}
    return error
