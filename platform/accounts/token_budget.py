"""What work beside the talk may spend of a day's tokens: gists, nights, digests, closings, diaries written anew."""

from datetime import datetime

from accounts.gate import allowance
from accounts.models import User

NO_TOKENS = "no_tokens_left"


def waits_until(user: User, now: datetime, *, is_asked_for: bool = False) -> datetime | None:
    """Until when such work waits for tokens, the end of the person's day; None where it may go on now.

    Half of each day's tokens is kept for talk; what the person themselves asked for may take all that is left.
    """
    allowed = allowance(user, now)
    least = 1 if is_asked_for else max(1, (allowed.tokens_per_day + 1) // 2)
    return None if allowed.tokens_left >= least else allowed.resets_at
