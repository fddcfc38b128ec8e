"""What each person may use, and what they used: the gate before work that costs, the row after it."""

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import GateError
from accounts.models import ModelCall, SoundCall, User
from accounts.rates import admit_to
from providers.errors import MalformedError, ProviderError, ProviderRefused
from providers.tokens import Metered, metered

NO_TOKENS = "no_tokens_left"
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
        raise GateError(NO_TOKENS, detail, math.ceil((allowed.resets_at - now).total_seconds()))


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


def waits_until(user: User, now: datetime, *, is_asked_for: bool = False) -> datetime | None:
    """Until when such work waits for tokens, the end of the person's day; None where it may go on now.

    Half of each day's tokens is kept for talk; what the person themselves asked for may take all that is left.
    """
    allowed = allowance(user, now)
    least = 1 if is_asked_for else max(1, (allowed.tokens_per_day + 1) // 2)
    return None if allowed.tokens_left >= least else allowed.resets_at


@dataclass(frozen=True, slots=True)
class Payer:
    """On whose account a call goes, for which companion and, within a turn, for which reply."""

    user_id: int
    companion_id: UUID
    reply_id: UUID | None = None


@dataclass(slots=True)
class Charge:
    """What a block's calls came to: their rows, once it has ended."""

    calls: list[ModelCall] = field(default_factory=list)


@contextmanager
def charged(
    payer: Payer | None, purpose: ModelCall.Purpose, clock: Callable[[], datetime] = timezone.now
) -> Iterator[Charge]:
    """Write a ModelCall for each metered call within the block, also where it fails; without a payer none.

    The charge given knows the rows after the block.
    """
    began_at, charge = clock(), Charge()
    with metered() as calls:
        try:
            yield charge
        finally:
            if payer and calls:
                rows = [_row(payer, purpose, call, began_at) for call in calls]
                charge.calls = ModelCall.objects.bulk_create(rows)


def _row(payer: Payer, purpose: ModelCall.Purpose, call: Metered, began_at: datetime) -> ModelCall:
    return ModelCall(
        user_id=payer.user_id,
        companion_id=payer.companion_id,
        reply_id=payer.reply_id,
        purpose=purpose,
        provider=call.provider,
        model=call.model,
        outcome=_outcome_of_model(call.error),
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        cached_tokens=call.cached_tokens,
        is_estimated=call.is_estimated,
        milliseconds=call.milliseconds,
        started_at=began_at,
    )


def _outcome_of_model(error: ProviderError | None) -> ModelCall.Outcome:
    if error is None or isinstance(error, MalformedError):  # that was answered, and is paid for
        return ModelCall.Outcome.DONE
    return ModelCall.Outcome.REFUSED if isinstance(error, ProviderRefused) else ModelCall.Outcome.UNAVAILABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundAllowance:
    """What one person may have said and heard a day, what of it they used, and when their day ends (UTC)."""

    characters_per_day: int
    characters_today: int
    seconds_per_day: float
    seconds_today: float
    resets_at: datetime


def sound_allowance(user: User, now: datetime) -> SoundAllowance:
    """The person's limits and what they used of them in their own day so far: one query."""
    began_at, ends_at = local_day(user, now)
    used = SoundCall.objects.owned_by(user).since(began_at).used()
    return SoundAllowance(
        characters_per_day=settings.SPEECH_CHARACTERS_PER_DAY,
        characters_today=int(used["characters"]),
        seconds_per_day=settings.HEARING_SECONDS_PER_DAY,
        seconds_today=used["seconds_heard"],
        resets_at=ends_at,
    )


def admit_speech(user: User, characters: int, now: datetime) -> None:
    """Let a sentence be spoken; GateError `no_speech_left` where it would go over the day's characters."""
    allowed = sound_allowance(user, now)
    if allowed.characters_today + characters > allowed.characters_per_day:
        detail = _("What may be read aloud in a day is used up. There is more at midnight; the text stays.")
        raise GateError("no_speech_left", detail, _seconds_until(allowed.resets_at, now))


def admit_hearing(user: User, seconds: float, now: datetime) -> None:
    """Let a recording be transcribed; GateError `no_hearing_left` where it would go over the day's seconds."""
    allowed = sound_allowance(user, now)
    if allowed.seconds_today + seconds > allowed.seconds_per_day:
        detail = _("What may be listened to in a day is used up. There is more at midnight; you can type.")
        raise GateError("no_hearing_left", detail, _seconds_until(allowed.resets_at, now))


def note_sound(
    user_id: int,
    capability: SoundCall.Capability,
    *,
    provider: str,
    model: str = "",
    companion_id: UUID | None = None,
    characters: int = 0,
    seconds: float = 0.0,
    error: BaseException | None = None,
    started_at: datetime,
    ended_at: datetime,
) -> SoundCall:
    """The row of one call, which has ended well, or in this error."""
    return SoundCall.objects.create(
        user_id=user_id,
        companion_id=companion_id,
        capability=capability,
        provider=provider[:200],
        model=model[:200],
        outcome=_outcome_of_sound(error),
        characters=characters,
        seconds=seconds,
        milliseconds=max(0, round((ended_at - started_at).total_seconds() * 1000)),
        said=getattr(error, "said", ""),
        started_at=started_at,
    )


def _outcome_of_sound(error: BaseException | None) -> SoundCall.Outcome:
    if error is None:
        return SoundCall.Outcome.DONE
    if isinstance(error, asyncio.CancelledError):
        return SoundCall.Outcome.STOPPED
    return SoundCall.Outcome.REFUSED if isinstance(error, ProviderRefused) else SoundCall.Outcome.UNAVAILABLE


def _seconds_until(moment: datetime, now: datetime) -> int:
    return math.ceil((moment - now).total_seconds())
