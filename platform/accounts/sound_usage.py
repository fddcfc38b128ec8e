"""What speech and hearing cost, and whom: the gate before a call, the row after it."""

import asyncio
import math
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.errors import GateError
from accounts.gate import local_day
from accounts.models import SoundCall, User
from providers.errors import ProviderRefused


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
        outcome=_outcome(error),
        characters=characters,
        seconds=seconds,
        milliseconds=max(0, round((ended_at - started_at).total_seconds() * 1000)),
        said=getattr(error, "said", ""),
        started_at=started_at,
    )


def _outcome(error: BaseException | None) -> SoundCall.Outcome:
    if error is None:
        return SoundCall.Outcome.DONE
    if isinstance(error, asyncio.CancelledError):
        return SoundCall.Outcome.STOPPED
    return SoundCall.Outcome.REFUSED if isinstance(error, ProviderRefused) else SoundCall.Outcome.UNAVAILABLE


def _seconds_until(moment: datetime, now: datetime) -> int:
    return math.ceil((moment - now).total_seconds())
