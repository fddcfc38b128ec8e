"""What people do by hand to wakings that wait or have failed, and to timers that stand still."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from companions.errors import TimerError
from companions.life import schedules, timers
from companions.locking import lock
from companions.models import Timer, Waking
from memory import nudging

STILL = [Timer.State.CANCELLED, Timer.State.SET_ASIDE]
CANCELLED = "cancelled"


@transaction.atomic
def cancel_waking(waking: Waking, now: datetime) -> bool:
    """Whether it still waited; then it does not happen, and whoever was at it stops."""
    lock(waking.companion_id)
    waiting = Waking.objects.waiting().filter(pk=waking.pk)
    ended = {"state": Waking.State.SKIPPED, "reason": CANCELLED, "look_at": None, "ended_at": now}
    return bool(waiting.update(**ended))


@transaction.atomic
def try_waking_again(waking: Waking, now: datetime) -> bool:
    """Whether it had failed; then it waits anew, and what it had done already is not done again."""
    lock(waking.companion_id)
    failed = Waking.objects.filter(pk=waking.pk, state=Waking.State.FAILED)
    fresh = {"state": Waking.State.WAITING, "reason": "", "attempts": 0, "look_at": now, "ended_at": None}
    is_tried = bool(failed.update(**fresh))
    if is_tried:
        nudge(waking)
    return is_tried


@transaction.atomic
def set_again(timer: Timer, now: datetime) -> bool:
    """Whether it stood still, cancelled or set aside, and has a next due time; then it runs from there on.

    TimerError where it cannot be read, or where there are too many.
    """
    lock(timer.companion_id)
    still = Timer.objects.select_related("companion__user").filter(pk=timer.pk, state__in=STILL).first()
    if still is None:
        return False
    if timers.planned(timer.companion_id).count() >= timers.MOST_ACTIVE:
        raise TimerError(
            "too_many_timers", _("There are 50 timers; there cannot be more. Cancel one first."), 409
        )
    due = schedules.read(still.schedule).first(now, timers.zone_of(still.companion))
    if due is None or due <= now:
        return False
    still.state, still.due_at, still.look_at = Timer.State.ACTIVE, due, due
    still.attempts, still.error, still.ended_at = 0, "", None
    still.save(update_fields=["state", "due_at", "look_at", "attempts", "error", "ended_at"])
    return True


def nudge(waking: Waking) -> None:
    """Have a worker begin it after the commit; should that be lost, the next tick finds it."""
    from companions.life.tasks import wake

    nudging.nudge(wake, str(waking.pk))
