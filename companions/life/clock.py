"""What the machine's clock put off while it was ahead, e.g. by a year, is brought back once the clock is right again.

Otherwise it would wait until that time: a daily reminder for a year. What was read then would make all that is said
until that time count as read.
"""

from datetime import datetime, timedelta

import structlog
from django.db import transaction

from companions.life.leases import end_leases_after
from companions.life.outreach import CLOCK_SKEW
from companions.life.timers import schedules
from companions.life.timers.timers import UNREADABLE
from companions.models import Conversation, Delivery, Life, Timer

log = structlog.get_logger(__name__)
MAX_DELAY = timedelta(days=2)  # nothing but a timer is put off for longer


def restore_times(now: datetime) -> int:
    """Bring back timers, all that workers lease, deliveries, drives and reading; return how many rows changed."""
    far = now + MAX_DELAY
    count = _restore_timers(now)
    count += Life.objects.filter(reflect_at__gt=far).update(reflect_at=None)
    count += end_leases_after(far, now)
    waiting = Delivery.objects.filter(state=Delivery.State.WAITING)
    count += waiting.filter(due_at__gt=far).update(due_at=now)
    count += Life.objects.filter(drives_at__gt=far).update(drives_at=None)
    count += Conversation.objects.filter(read_until__gt=now + CLOCK_SKEW).update(read_until=now)
    if count:
        log.warning("clock_was_ahead", rows=count)
    return count


def _restore_timers(now: datetime) -> int:
    """Set the timers' times that lie too far ahead to those that their schedules have from now on.

    A time of the calendar is right, whatever the clock was when it was set. Only timers whose time is wrong are locked.
    """
    far = Timer.everywhere.active().filter(look_at__gt=now + MAX_DELAY).exclude(schedule__startswith="once:")
    rows = far.select_related("companion__user").order_by("pk")
    count = 0
    for pk in [timer.pk for timer in rows.iterator() if _find_earlier_time(timer, now)]:
        with transaction.atomic():
            timer = rows.select_for_update(of=("self",), skip_locked=True).filter(pk=pk).first()
            due = timer and _find_earlier_time(timer, now)
            if due:
                count += Timer.everywhere.filter(pk=pk).update(due_at=due, look_at=due)
    return count


def _find_earlier_time(timer: Timer, now: datetime) -> datetime | None:
    """Return when the timer is due if the clock was ahead when its due time was set, else None."""
    try:
        schedule = schedules.parse(timer.schedule)
        if isinstance(schedule, schedules.After) and timer.created_at <= now:
            return None
        due = schedule.first(now, timer.companion.user.zone)
    except UNREADABLE:  # it is left to the tick
        return None
    return due if due and timer.due_at and due < timer.due_at else None
