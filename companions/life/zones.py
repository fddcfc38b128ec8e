"""Timers follow the person into another time zone: eight in the morning is eight where they are."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import User
from companions.errors import TimerError
from companions.life import schedules
from companions.life.due_times import Cron, Once, Schedule
from companions.life.timers import zone_of
from companions.locking import hold
from companions.models import Companion, Timer


@receiver(post_save, sender=User)
def saved(instance: User, created: bool, update_fields: Collection[str] | None, **_more: Any) -> None:
    if not created and (update_fields is None or "time_zone" in update_fields):
        follow(instance, timezone.now())


def follow(person: User, now: datetime) -> int:
    """How many timers are due at another moment than before, as the person lives in another zone."""
    ids = Companion.objects.owned_by(person).values_list("pk", flat=True)
    return sum(_follow(companion_id, now) for companion_id in ids)


@transaction.atomic
def _follow(companion_id: Any, now: datetime) -> int:
    companion = hold(companion_id)
    if companion is None:
        return 0
    waiting = Timer.objects.active().filter(companion=companion, due_at__gt=now).select_for_update()
    moved = [timer for timer in waiting if _is_moved(timer, companion, now)]
    return Timer.objects.bulk_update(moved, ["due_at", "look_at"]) if moved else 0


def _is_moved(timer: Timer, companion: Companion, now: datetime) -> bool:
    """Whether it is due at another moment now. One that cannot be read is left to the tick."""
    try:
        due = _due(schedules.read(timer.schedule), companion, now)
    except TimerError:
        return False
    if due is None or due == timer.due_at:
        return False
    timer.due_at = timer.look_at = due
    return True


def _due(schedule: Schedule, companion: Companion, now: datetime) -> datetime | None:
    """When the clock there shows the time; a time that has passed there is due at once. None of a length of time."""
    return schedule.first(now, zone_of(companion)) if isinstance(schedule, Cron | Once) else None
