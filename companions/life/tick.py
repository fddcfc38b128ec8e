"""The tick: what is due is claimed in batches, and each due time becomes one waking, whoever else is at it too."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction

from companions.life import schedules
from companions.models import Timer, Waking

log = structlog.get_logger(__name__)

CLAIMED_AT_ONCE = 1000
BEGUN_AT_ONCE = 100
LEASE = timedelta(minutes=2)  # whoever claimed a timer begins it within seconds
SOON = timedelta(seconds=5)
MOST_ATTEMPTS = 3
UNREADABLE = (schedules.ScheduleError, LookupError, ValueError, ArithmeticError)
MOST_MISSED = 10_000  # counted one by one; what was missed beside them is passed over
CLAIM = """
UPDATE companions_timer SET look_at = %(until)s WHERE id IN (
    SELECT id FROM companions_timer WHERE state = 'active' AND look_at <= %(now)s
     ORDER BY look_at LIMIT %(most)s FOR UPDATE SKIP LOCKED)
RETURNING id
"""
# Whose companion another holds right now, waits for the next look; so nothing begins while its companion is deleted.
HOLD = "SELECT id FROM companions_companion WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED"


def claim(now: datetime, most: int) -> list[UUID]:
    """At most so many timers that are due, the longest first: for some seconds nobody else claims them."""
    named: dict[str, Any] = {"now": now, "until": now + LEASE, "most": most}
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, named)
        return [id for (id,) in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Due:
    """The latest due time that has come, those before it that were missed, and when it is due next."""

    at: datetime
    missed: int
    next_at: datetime | None


@transaction.atomic
def begin(timer_ids: Collection[UUID], now: datetime) -> list[UUID]:
    """The wakings that these claimed timers have come to, each once; the timers are set to their next due time or ended.

    A timer that cannot be read is counted, and set aside in the end; the others do not suffer from it.
    """
    timers = _held(timer_ids, now)
    wakings = [waking for timer in timers if (waking := _begun(timer, now))]
    Waking.objects.bulk_create(wakings, ignore_conflicts=True)
    Timer.objects.bulk_update(timers, ["state", "due_at", "look_at", "ended_at", "attempts", "error"])
    begun = Waking.objects.filter(
        pk__in=[one.pk for one in wakings]
    )  # those that are there already are not among them
    return list(begun.values_list("pk", flat=True))


def due_of(timer: Timer, now: datetime) -> Due:
    """How a timer stands that is due; ScheduleError where its schedule cannot be read."""
    assert timer.due_at is not None  # noqa: S101 (an active timer has one, by constraint)
    zone = timer.companion.user.zone
    schedule = schedules.read(timer.schedule)
    at, missed = timer.due_at, 0
    while (following := schedule.next(at, zone)) and following <= now and missed < MOST_MISSED:
        at, missed = following, missed + 1
    if following and following <= now:
        following = schedule.next(now, zone)
    return Due(at, missed, following)


def _held(timer_ids: Collection[UUID], now: datetime) -> list[Timer]:
    """Those timers that are still active and due, locked with their companions; who is busy is looked at again soon."""
    asked = Timer.objects.active().filter(pk__in=timer_ids, due_at__lte=now)
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [list(asked.values_list("companion_id", flat=True))])
        free = [id for (id,) in cursor.fetchall()]
    busy = asked.exclude(companion__in=free).select_for_update(of=("self",), skip_locked=True)
    Timer.objects.filter(pk__in=list(busy.values_list("pk", flat=True))).update(look_at=now + SOON)
    locked = asked.filter(companion__in=free).select_for_update(of=("self",))
    return list(locked.select_related("companion__user").order_by("pk"))


def _begun(timer: Timer, now: datetime) -> Waking | None:
    """The timer's waking, and the timer set to what comes next; None where that failed."""
    try:
        due = due_of(timer, now)
    except UNREADABLE as error:
        _count(timer, now, error)
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


def _count(timer: Timer, now: datetime, error: Exception) -> None:
    """After the last try the timer is set aside, and the operator is told."""
    timer.attempts, timer.error = timer.attempts + 1, getattr(error, "code", "internal_error")
    timer.look_at = now + timedelta(minutes=2**timer.attempts)
    if timer.attempts >= MOST_ATTEMPTS:
        timer.state, timer.due_at, timer.look_at = Timer.State.SET_ASIDE, None, None
        log.error("timer_set_aside", timer_id=str(timer.pk), code=timer.error)


def batches(ids: Sequence[UUID], size: int) -> list[list[str]]:
    """The ids as texts, in parts of at most so many."""
    return [[str(id) for id in ids[n : n + size]] for n in range(0, len(ids), size)]
