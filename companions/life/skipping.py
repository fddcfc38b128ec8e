"""Whether a waking may be: else why not, in a word that is kept with it."""

from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db.models import Max

from accounts.sparing import waits_until
from companions.life.drive import is_gone
from companions.life.hours import within
from companions.models import Companion, Life, Message, Timer, Waking

TOO_LATE = timedelta(hours=12)
LONG_GONE = timedelta(
    days=21
)  # then the longest silence has been thought of, and nothing else costs anything


class Reason(StrEnum):
    """Why a companion did not wake."""

    LIFE_OFF = "life_off"
    ASLEEP = "asleep"
    TOO_LATE = "too_late"
    NOTHING_NEW = "nothing_new"
    TOO_MANY_A_DAY = "too_many_a_day"
    NO_TOKENS = "no_tokens"
    GONE = "gone"
    SHUT_OUT = "shut_out"


def reason(waking: Waking, companion: Companion, now: datetime) -> Reason | None:
    """Why this one must not be now; None where it may. What was asked for is never too late, nor put off by sleep."""
    if not companion.user.is_active:
        return Reason.SHUT_OUT
    if not waking.is_asked_for and (found := _unasked(waking, companion, now)):
        return found
    if _woken_today(waking, companion, now) >= settings.LIFE_WAKINGS_PER_DAY:
        return Reason.TOO_MANY_A_DAY
    if waits_until(companion.user, now, is_asked_for=waking.is_asked_for):
        return Reason.NO_TOKENS
    return None


def _unasked(waking: Waking, companion: Companion, now: datetime) -> Reason | None:
    life = Life.objects.filter(companion=companion).first() or Life(companion=companion)
    if not life.is_awake:
        return Reason.LIFE_OFF
    if waking.origin == Waking.Origin.FORCED:
        return None
    if now - waking.due_at > TOO_LATE:
        return Reason.TOO_LATE
    local = now.astimezone(companion.user.zone)
    if waking.origin == Waking.Origin.DRIVE and within(life.sleeps_from, life.sleeps_until, local.time()):
        return Reason.ASLEEP
    if is_gone(waking):
        return Reason.GONE
    return Reason.NOTHING_NEW if _has_nothing_new(waking) or _is_long_gone(waking, now) else None


def _is_long_gone(waking: Waking, now: datetime) -> bool:
    """Whether the companion has set it itself, and the person has not written for weeks."""
    if waking.timer is None or waking.timer.by != Timer.By.COMPANION:
        return False
    said = Message.objects.filter(companion=waking.companion_id, role=Message.Role.USER)
    last = said.aggregate(at=Max("said_at"))["at"]
    return last is not None and now - last > LONG_GONE


def _has_nothing_new(waking: Waking) -> bool:
    """Whether a predefined one finds nothing that the one before has not: the person has said nothing since."""
    if waking.timer is None or not waking.timer.name:
        return False
    before = Waking.objects.filter(timer=waking.timer, state=Waking.State.DONE).order_by("-due_at").first()
    said = Message.objects.filter(companion=waking.companion_id, role=Message.Role.USER)
    return not (said.filter(said_at__gt=before.due_at) if before else said).exists()


def _woken_today(waking: Waking, companion: Companion, now: datetime) -> int:
    """How often the companion has woken in the person's day; for what was asked for, only what was asked for counts."""
    midnight = now.astimezone(companion.user.zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    begun = Waking.objects.filter(companion=companion, started_at__gte=midnight)
    counted = begun.filter(is_asked_for=True) if waking.is_asked_for else begun
    return counted.exclude(pk=waking.pk).count()
