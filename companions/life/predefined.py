"""The timers that each companion is made with: the evening's, for its diary, and the morning's."""

from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import translation
from django.utils.translation import gettext_lazy

from companions.errors import TimerError
from companions.life import schedules, timers
from companions.locking import lock
from companions.models import Companion, Timer

log = structlog.get_logger(__name__)

AT_ONCE = 500
PREDEFINED = {
    "evening": (
        "cron:55 22 * * *",
        gettext_lazy("The day is ending: look back on it, and write your diary."),
    ),
    "morning": ("cron:0 8 * * *", gettext_lazy("A new day: think of what it may bring for the two of you.")),
}


@transaction.atomic
def ensure_predefined(companion: Companion, now: datetime) -> int:
    """How many had to be made. One that was cancelled stays so: its row is there."""
    if not lock(companion.pk):
        return 0
    known = Timer.objects.filter(companion=companion, name__in=PREDEFINED).values_list("name", flat=True)
    missing = [_made(companion, name, now) for name in PREDEFINED.keys() - set(known)]
    return len(Timer.objects.bulk_create(missing))


def ensure_missing(now: datetime) -> int:
    """How many were made for companions that lacked one; some hundreds of companions at once."""
    there = Timer.objects.filter(companion=OuterRef("pk"))
    lacks = Q()
    for name in PREDEFINED:
        lacks |= ~Q(Exists(there.filter(name=name)))
    return sum(_ensured(one, now) for one in Companion.objects.filter(lacks).select_related("user")[:AT_ONCE])


def _ensured(companion: Companion, now: datetime) -> int:
    try:
        return ensure_predefined(companion, now)
    except TimerError as error:
        log.warning("timers_missing", companion_id=str(companion.pk), code=error.code)
        return 0


def _made(companion: Companion, name: str, now: datetime) -> Timer:
    schedule, note = PREDEFINED[name]
    due = schedules.read(schedule).first(now, timers.zone_of(companion))
    with translation.override(companion.user.language or "en"):
        words = str(note)
    told = {"schedule": schedule, "name": name, "note": words, "by": Timer.By.KITH}
    return Timer(companion=companion, due_at=due, look_at=due, created_at=now, **told)
