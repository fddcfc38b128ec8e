"""What the machine's clock put off while it was ahead, e.g. by a year, is brought back once the clock is right again.

Otherwise it would wait until that time: a daily reminder for a year.
"""

from contextlib import suppress
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from companions.life import schedules
from companions.life.timers import UNREADABLE
from companions.models import Delivery, Life, Timer, Waking

log = structlog.get_logger(__name__)
FARTHEST = timedelta(days=2)  # nothing but a timer is put off for longer


def restore_times(now: datetime) -> int:
    """Bring back timers, wakings, deliveries, reflections and the search for drives; return how many rows changed."""
    far = now + FARTHEST
    count = _restore_timers(now)
    count += Waking.objects.waiting().filter(look_at__gt=far).update(look_at=now)
    waiting = Delivery.objects.filter(state=Delivery.State.WAITING)
    count += waiting.filter(due_at__gt=far).update(due_at=now)
    count += Life.objects.filter(drives_at__gt=far).update(drives_at=None)
    count += Life.objects.filter(reflect_at__gt=far).update(reflect_at=None)
    if count:
        log.warning("clock_was_ahead", rows=count)
    return count


@transaction.atomic
def _restore_timers(now: datetime) -> int:
    """Set the timers' times that lie too far ahead to those that their schedules have from now on.

    A time of the calendar is right, whatever the clock was when it was set.
    """
    far = Timer.everywhere.active().filter(look_at__gt=now + FARTHEST).exclude(schedule__startswith="once:")
    rows = far.select_related("companion__user").select_for_update(of=("self",), skip_locked=True)
    changed = []
    for timer in rows.iterator():
        with suppress(*UNREADABLE):  # what cannot be parsed is left to the tick
            if due := _find_earlier_time(timer, now):
                timer.due_at = timer.look_at = due
                changed.append(timer)
    return Timer.everywhere.bulk_update(changed, ["due_at", "look_at"], batch_size=500) if changed else 0


def _find_earlier_time(timer: Timer, now: datetime) -> datetime | None:
    """Return when the timer is due by its schedule, set now, if that is earlier than its due time, else None."""
    due = schedules.parse(timer.schedule).first(now, timer.companion.user.zone)
    return due if due and timer.due_at and due < timer.due_at else None
