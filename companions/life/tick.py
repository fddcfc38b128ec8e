"""The tick: what is due is claimed in batches, and each due time becomes one waking, whoever else is at it too."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import connection, transaction

from companions.errors import ScheduleError
from companions.life import schedules
from companions.models import Companion, Timer, Waking

log = structlog.get_logger(__name__)

CLAIMED_AT_ONCE = 1000
BEGUN_AT_ONCE = 100
LEASE_TIME = timedelta(minutes=2)  # whoever claimed a timer begins it within seconds
BUSY_DELAY = timedelta(seconds=5)
MAX_ATTEMPTS = 3
UNREADABLE = (ScheduleError, LookupError, ValueError, ArithmeticError)
MAX_MISSED = 10_000  # counted one by one; what was missed beside them is passed over
# One statement: the ORM cannot give back what an update has changed, and thousands may be due at once.
CLAIM = """
UPDATE companions_timer SET look_at = %(until)s WHERE id IN (
    SELECT id FROM companions_timer WHERE state = 'active' AND look_at <= %(now)s
     ORDER BY look_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING id
"""


def claim_timers(now: datetime, limit: int) -> list[UUID]:
    """Return at most so many timers that are due, the longest first: for some seconds nobody else claims them."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"now": now, "until": now + LEASE_TIME, "limit": limit})
        return [id for (id,) in cursor.fetchall()]


@transaction.atomic
def begin_wakings(timer_ids: Collection[UUID], now: datetime) -> list[UUID]:
    """Return the wakings that these claimed timers have come to, each once; set the timers to their next due time.

    A timer that cannot be read is counted, and a dead letter in the end; the others do not suffer from it.
    """
    timers = _lock_timers(timer_ids, now)
    wakings = [waking for timer in timers if (waking := _begin_waking(timer, now))]
    Waking.objects.bulk_create(wakings, ignore_conflicts=True)
    Timer.objects.bulk_update(timers, ["state", "due_at", "look_at", "ended_at", "attempts", "error"])
    # Those that were there already are not among them.
    begun = Waking.objects.filter(pk__in=[waking.pk for waking in wakings])
    return list(begun.values_list("pk", flat=True))


def _lock_timers(timer_ids: Collection[UUID], now: datetime) -> list[Timer]:
    """Return those timers that are still active and due, locked with their companions.

    Whose companion another holds right now, is looked at again soon; so nothing begins while its companion is deleted.
    """
    due = Timer.objects.active().filter(pk__in=timer_ids, due_at__lte=now)
    companions = Companion.objects.filter(pk__in=list(due.values_list("companion_id", flat=True)))
    companions = companions.order_by("pk").select_for_update(no_key=True, skip_locked=True)
    free = list(companions.values_list("pk", flat=True))
    busy = due.exclude(companion__in=free).select_for_update(of=("self",), skip_locked=True)
    Timer.objects.filter(pk__in=list(busy.values_list("pk", flat=True))).update(look_at=now + BUSY_DELAY)
    locked = due.filter(companion__in=free).select_for_update(of=("self",))
    return list(locked.select_related("companion__user").order_by("pk"))


def _begin_waking(timer: Timer, now: datetime) -> Waking | None:
    """Return the timer's waking, and set the timer to what comes next; None where that failed."""
    try:
        due = find_due_time(timer, now)
    except UNREADABLE as error:
        _note_failure(timer, now, error)
        return None
    since = timer.due_at
    timer.due_at = timer.look_at = due.next_at
    if due.next_at is None:
        timer.state, timer.ended_at = Timer.State.ENDED, now
    return Waking(
        companion_id=timer.companion_id,
        timer=timer,
        origin=Waking.Origin.TIMER,
        due_at=due.at,
        missed=due.missed,
        missed_since=since if due.missed else None,
        note=timer.note,
        is_asked_for=timer.is_asked_for,
        look_at=now,
        created_at=now,
    )


@dataclass(frozen=True, slots=True)
class DueTime:
    """The latest due time that has come, those before it that were missed, and when it is due next."""

    at: datetime
    missed: int
    next_at: datetime | None


def find_due_time(timer: Timer, now: datetime) -> DueTime:
    """Return how a timer stands that is due; ScheduleError where its schedule cannot be read."""
    assert timer.due_at is not None  # noqa: S101 (an active timer has one, by constraint)
    zone = timer.companion.user.zone
    schedule = schedules.parse(timer.schedule)
    at, missed = timer.due_at, 0
    while (following := schedule.next(at, zone)) and following <= now and missed < MAX_MISSED:
        at, missed = following, missed + 1
    if following and following <= now:
        following = schedule.next(now, zone)
    return DueTime(at, missed, following)


def _note_failure(timer: Timer, now: datetime, error: Exception) -> None:
    """Count the try; after the last one the timer is a dead letter, and the operator is told."""
    timer.attempts, timer.error = timer.attempts + 1, getattr(error, "code", "internal_error")
    timer.look_at = now + timedelta(minutes=2**timer.attempts)
    if timer.attempts >= MAX_ATTEMPTS:
        timer.state, timer.due_at, timer.look_at = Timer.State.DEAD_LETTER, None, None
        log.error("timer_set_aside", timer_id=str(timer.pk), code=timer.error)
