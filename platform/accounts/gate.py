"""The gate: messages a minute and tokens a day before a turn, and before other work, for each person."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext as _

from accounts.errors import GateError
from accounts.models import User
from accounts.rates import admit_to

__all__ = ["Allowance", "GateError", "admit", "admit_work", "allowance"]

MINUTE_SECONDS = 60
# In SQL, for whoever sends waits for it.
TOKENS = """
SELECT coalesce(sum(prompt_tokens + completion_tokens), 0) FROM accounts_modelcall
 WHERE user_id = %s AND started_at >= %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one person may use, what they used in their own day so far, and when that day ends (UTC)."""

    messages_per_minute: int
    tokens_per_day: int
    tokens_today: int
    resets_at: datetime

    @property
    def tokens_left(self) -> int:
        return max(0, self.tokens_per_day - self.tokens_today)


def admit(user: User, *, recent_messages: int, now: datetime) -> None:
    """Let a message in; GateError where the last minute's messages or the day's tokens reach the limit."""
    if recent_messages >= messages_per_minute(user):
        detail = _("That was a lot at once. Wait a minute, then go on; nothing is lost.")
        raise GateError("too_many_messages", detail, MINUTE_SECONDS)
    require_tokens(allowance(user, now), now)


def admit_work(user: User, what: str, now: datetime) -> None:
    """Let in what asks the embedder: GateError where the person asked too often, or the day's tokens are used up."""
    admit_to(user, what, now)
    require_tokens(allowance(user, now), now)


def require_tokens(allowed: Allowance, now: datetime) -> None:
    """GateError where the day's tokens are used up."""
    if allowed.tokens_left == 0:
        detail = _("Today's tokens are used up. There are new ones at midnight.")
        raise GateError("no_tokens_left", detail, math.ceil((allowed.resets_at - now).total_seconds()))


def allowance(user: User, now: datetime) -> Allowance:
    """The person's limits, and the tokens of their local day summed from ModelCall rows (one query)."""
    began_at, ends_at = local_day(user, now)
    limit = user.tokens_per_day
    return Allowance(
        messages_per_minute=messages_per_minute(user),
        tokens_per_day=settings.TOKENS_PER_DAY if limit is None else limit,
        tokens_today=_tokens_since(user, began_at),
        resets_at=ends_at,
    )


def _tokens_since(user: User, moment: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(TOKENS, [user.pk, moment])
        [total] = cursor.fetchone()
    return int(total)


def messages_per_minute(user: User) -> int:
    """The person's own limit, or the platform's."""
    limit = user.messages_per_minute
    return int(settings.MESSAGES_PER_MINUTE) if limit is None else limit


def local_day(user: User, now: datetime) -> tuple[datetime, datetime]:
    """The midnights, in UTC, around `now` where the person lives; 23 to 25 hours apart when clocks change."""
    today = now.astimezone(user.zone).date()
    midnights = (datetime.combine(day, time.min, user.zone) for day in (today, today + timedelta(days=1)))
    began_at, ends_at = (midnight.astimezone(UTC) for midnight in midnights)
    return began_at, ends_at
