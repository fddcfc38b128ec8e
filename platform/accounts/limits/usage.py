"""What each person may use, and what they used: the gate before costly work, and the rows that record it afterwards."""

import asyncio
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import GateError
from accounts.limits.rates import admit_to
from accounts.models import ModelCall, SoundCall, User
from providers.chat_provider import OWN
from providers.errors import MalformedError, ProviderRefused
from providers.failures import note_failure
from providers.tokens import Metered, metered

NO_TOKENS_LEFT = "no_tokens_left"
LOADED_WITHIN = timedelta(hours=1)  # before a call begins, what it shows is loaded, and some of it embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """One person's limits, the tokens that they have used in their local day, and when that day ends (UTC)."""

    messages_per_minute: int
    tokens_per_day: int
    tokens_today: int
    resets_at: datetime

    @property
    def tokens_left(self) -> int:
        return max(0, self.tokens_per_day - self.tokens_today)


def load_allowance(user: User, now: datetime) -> Allowance:
    """Return the person's limits, their own or the platform's, and the tokens of their local day (one query).

    Calls of the person's own providers are not counted: the person pays for these.
    """
    began_at, ends_at = find_local_day(user, now)
    tokens = user.tokens_per_day
    calls = ModelCall.objects.owned_by(user).filter(started_at__gte=began_at).exclude(provider=OWN)
    today = calls.aggregate(all=Sum(F("prompt_tokens") + F("completion_tokens"), default=0))
    return Allowance(
        messages_per_minute=_messages_per_minute(user),
        tokens_per_day=settings.TOKENS_PER_DAY if tokens is None else tokens,
        tokens_today=today["all"],
        resets_at=ends_at,
    )


def has_tokens_left(user_id: int, now: datetime) -> bool:
    """Return whether the user has tokens left today; False if the account is gone."""
    user = User.objects.filter(pk=user_id).first()
    return user is not None and load_allowance(user, now).tokens_left > 0


def _messages_per_minute(user: User) -> int:
    own = user.messages_per_minute
    return settings.MESSAGES_PER_MINUTE if own is None else own


def find_local_day(user: User, now: datetime) -> tuple[datetime, datetime]:
    """Return the start and end in UTC of the person's local day at `now`, 23 to 25 hours apart when clocks change."""
    today = now.astimezone(user.zone).date()
    midnights = (datetime.combine(day, time.min, user.zone) for day in (today, today + timedelta(days=1)))
    began_at, ends_at = (midnight.astimezone(UTC) for midnight in midnights)
    return began_at, ends_at


# -- the gate ---------------------------------------------------------------------------------------


def admit(user: User, *, recent_messages: int, now: datetime, is_own: bool = False) -> None:
    """Raise GateError if `recent_messages`, the count of the last minute, or the day's tokens have reached the limit.

    The tokens are not checked if `is_own`, i.e. if the person's own provider will answer.
    """
    if recent_messages >= _messages_per_minute(user):
        detail = _("That was a lot at once. Wait a minute, then continue; nothing is lost.")
        raise GateError("too_many_messages", detail, retry_after_seconds=60)
    if not is_own:
        _require_tokens(load_allowance(user, now), now)


def admit_work(user: User, what: str, now: datetime) -> None:
    """Raise GateError if the person uses `what` too often (`admit_to`), or if the day's tokens are used up."""
    admit_to(user, what, now)
    _require_tokens(load_allowance(user, now), now)


def _require_tokens(allowed: Allowance, now: datetime) -> None:
    if allowed.tokens_left == 0:
        detail = _("Today's allowance is used up. You get a new one at midnight.")
        raise GateError(NO_TOKENS_LEFT, detail, _seconds_until(allowed.resets_at, now))


def waits_until(user: User, now: datetime, *, is_asked_for: bool = False) -> datetime | None:
    """Return None if background work may spend tokens now, otherwise the end of the person's day, when it may again.

    Half of each day's tokens is reserved for talk; work that `is_asked_for` by the person may spend all that is left.
    """
    allowed = load_allowance(user, now)
    least = 1 if is_asked_for else max(1, (allowed.tokens_per_day + 1) // 2)
    return None if allowed.tokens_left >= least else allowed.resets_at


def admit_speech(user: User, characters: int, now: datetime) -> None:
    """Raise GateError `no_speech_left` if speaking so many characters would exceed the day's limit."""
    began_at, ends_at = find_local_day(user, now)
    used = SoundCall.objects.owned_by(user).filter(started_at__gte=began_at).used()
    if used["characters"] + characters > settings.SPEECH_CHARACTERS_PER_DAY:
        detail = _(
            "You have reached today's limit for reading aloud. It starts afresh at midnight; the text stays."
        )
        raise GateError("no_speech_left", detail, _seconds_until(ends_at, now))


def admit_hearing(user: User, seconds: float, now: datetime) -> None:
    """Raise GateError `no_hearing_left` if transcribing so many seconds would exceed the day's limit."""
    began_at, ends_at = find_local_day(user, now)
    used = SoundCall.objects.owned_by(user).filter(started_at__gte=began_at).used()
    if used["seconds_heard"] + seconds > settings.HEARING_SECONDS_PER_DAY:
        detail = _(
            "You have reached today's limit for voice input. It starts afresh at midnight; you can still type."
        )
        raise GateError("no_hearing_left", detail, _seconds_until(ends_at, now))


def _seconds_until(moment: datetime, now: datetime) -> int:
    return math.ceil((moment - now).total_seconds())


# -- the rows ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Payer:
    """The user to whom a model call is charged, with its companion and, within a turn, its reply."""

    user_id: int
    companion_id: UUID
    reply_id: UUID | None = None


Call = TypeVar("Call", ModelCall, SoundCall)
Report = Callable[[Sequence[ModelCall]], object]
_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Call `report` with the rows of each `charged` block within this block, as soon as they are written."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


@contextmanager
def charged(
    payer: Payer | None, purpose: ModelCall.Purpose, clock: Callable[[], datetime] = timezone.now
) -> Iterator[list[ModelCall]]:
    """Write a ModelCall for each metered call within the block, even if the block fails; without a payer, write none.

    The yielded list holds the rows once the block has ended. Errors are also noted in the rows of the providers.
    """
    began_at = clock()
    rows: list[ModelCall] = []
    with metered() as calls:
        try:
            yield rows
        finally:
            if payer and calls:
                rows += _save_calls([_build_call(payer, purpose, call, began_at) for call in calls])
                # A comparison keeps its answers itself, and deleting it is to delete them.
                if purpose != ModelCall.Purpose.COMPARISON and any(call.sent for call in calls):
                    _keep_words(rows, calls)
                if report := _report.get():
                    report(rows)
            for call in calls:
                if call.error:
                    user_id = payer.user_id if payer else None
                    note_failure(call.provider, call.model, call.error, clock(), user_id)


def _save_calls(calls: list[Call]) -> list[Call]:
    """Save the calls and return them; if their companion was deleted meanwhile, the person is charged without it."""
    try:
        return type(calls[0]).objects.bulk_create(calls)
    except IntegrityError:
        for call in calls:
            call.pk = call.companion_id = None
            if isinstance(call, ModelCall):
                call.reply_id = None
        return type(calls[0]).objects.bulk_create(calls)


@transaction.atomic
def _keep_words(rows: Sequence[ModelCall], calls: Sequence[Metered]) -> None:
    """Keep what chat models were sent, and what came back, unless anything of the companion was deleted since that was
    loaded, shortly before. Deletion locks the companion, too, so it comes either before this or after it.
    """
    of_companion = ModelCall.objects.filter(pk=rows[0].pk, companion__user=rows[0].user_id)
    locked = of_companion.select_related("companion").select_for_update(of=["companion"], no_key=True).first()
    companion = locked.companion if locked else None
    if companion is None:
        return
    if companion.scrubbed_at and companion.scrubbed_at > rows[0].started_at - LOADED_WITHIN:
        return
    for row, call in zip(rows, calls, strict=True):
        # The error message of a person's own provider may reveal its address.
        said = call.error.said if call.error and call.provider != OWN else ""
        if call.sent:
            ModelCall.objects.filter(pk=row.pk).update(sent=call.sent, received=call.received, said=said)


def _build_call(payer: Payer, purpose: ModelCall.Purpose, call: Metered, began_at: datetime) -> ModelCall:
    if call.error is None or isinstance(call.error, MalformedError):  # a malformed answer is paid for as well
        outcome = ModelCall.Outcome.DONE
    elif isinstance(call.error, ProviderRefused):
        outcome = ModelCall.Outcome.REFUSED
    else:
        outcome = ModelCall.Outcome.UNAVAILABLE
    return ModelCall(
        user_id=payer.user_id,
        companion_id=payer.companion_id,
        reply_id=payer.reply_id,
        purpose=purpose,
        provider=call.provider,
        model=call.model,
        outcome=outcome,
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        cached_tokens=call.cached_tokens,
        is_estimated=call.is_estimated,
        milliseconds=call.milliseconds,
        started_at=began_at,
    )


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
    """Write the row of one finished call of a speech or transcription provider; `error` is None if it succeeded."""
    if error is None:
        outcome = SoundCall.Outcome.DONE
    elif isinstance(error, asyncio.CancelledError):
        outcome = SoundCall.Outcome.STOPPED
    elif isinstance(error, ProviderRefused):
        outcome = SoundCall.Outcome.REFUSED
    else:
        outcome = SoundCall.Outcome.UNAVAILABLE
    call = SoundCall(
        user_id=user_id,
        companion_id=companion_id,
        capability=capability,
        provider=provider[:200],
        model=model[:200],
        outcome=outcome,
        characters=characters,
        seconds=seconds,
        milliseconds=max(0, round((ended_at - started_at).total_seconds() * 1000)),
        said=getattr(error, "said", ""),
        started_at=started_at,
    )
    return _save_calls([call])[0]
