"""Timers as they are set, cancelled and fired; each write under the companion's lock."""

from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import transaction
from django.utils.translation import gettext as _

from companions.errors import TimerError
from companions.life import schedules
from companions.life.schedules import ScheduleError
from companions.locking import lock
from companions.models import Companion, Message, Timer, Waking
from companions.models.timer import NOTE_CHARACTERS, TimerQuerySet
from memory import nudging
from memory.text import is_storable

MOST_ACTIVE = 50  # of one companion
MOST_AT_ONCE = 10  # set in one turn, or in one waking
UPCOMING = 5
SOON = timedelta(minutes=2)


@transaction.atomic
def set_timer(
    companion: Companion,
    schedule: str,
    note: str,
    *,
    by: Timer.By,
    now: datetime,
    is_asked_for: bool,
    message: Message | None = None,
    waking: Waking | None = None,
) -> Timer:
    """The new timer, or the one that this turn or waking has set in the same words; TimerError where it cannot be.

    What is set in a waking was never asked for.
    """
    zone, words = zone_of(companion), _kept(note)
    set_here = Timer.objects.filter(companion=companion, message=message, waking=waking)
    lock(companion.pk)
    if message or waking:
        same = set_here.filter(schedule=schedules.read(schedule).text, note=words)
        if before := same.exclude(state=Timer.State.CANCELLED).first():
            return before
        _check(
            set_here, MOST_AT_ONCE, "too_many_at_once", _("No more than 10 timers can be set in one turn.")
        )
    full = _("There are 50 timers; there cannot be more. Cancel one first.")
    _check(planned(companion.pk), MOST_ACTIVE, "too_many_timers", full)
    planned_for = schedules.parse(schedule, now, zone)
    due = planned_for.first(now, zone)
    timer = Timer.objects.create(
        companion=companion,
        schedule=planned_for.text,
        note=words,
        by=by,
        is_asked_for=is_asked_for and waking is None,  # there nobody asks: else reminders would set reminders
        message=message,
        waking=waking,
        due_at=due,
        look_at=due,
        created_at=now,
    )
    _nudge_tick(timer, now)
    return timer


def _check(there: TimerQuerySet, most: int, code: str, detail: str) -> None:
    if there.count() >= most:
        raise TimerError(code, detail, 409)


def _nudge_tick(timer: Timer, now: datetime) -> None:
    """Ask for a tick right when the timer is due, where the next one of beat would be felt as late."""
    from companions.life.tasks import tick

    if timer.due_at and timer.due_at - now <= SOON:
        nudging.nudge(tick, seconds=(timer.due_at - now).total_seconds())


@transaction.atomic
def cancel(timer: Timer, now: datetime) -> bool:
    """Whether it was active, or set aside; then it is not any more."""
    lock(timer.companion_id)
    running = Timer.objects.filter(pk=timer.pk, state__in=[Timer.State.ACTIVE, Timer.State.SET_ASIDE])
    return bool(running.update(state=Timer.State.CANCELLED, ended_at=now))


@transaction.atomic
def fire(timer: Timer, now: datetime, *, is_asked_for: bool = False) -> Waking:
    """A waking by hand, asked for where the timer is or the person fires it; the timer's own due time stays.

    TimerError: the timer has ended, or was cancelled.
    """
    from companions.life.tasks import wake

    lock(timer.companion_id)
    if not Timer.objects.filter(pk=timer.pk, state__in=[Timer.State.ACTIVE, Timer.State.SET_ASIDE]).exists():
        raise TimerError("timer_over", _("This timer has ended."), 409)
    waking = Waking.objects.create(
        companion_id=timer.companion_id,
        timer=timer,
        origin=Waking.Origin.FORCED,
        due_at=now,
        note=timer.note,
        is_asked_for=timer.is_asked_for or is_asked_for,
        look_at=now,
        created_at=now,
    )
    nudging.nudge(wake, str(waking.pk))
    return waking


def planned(companion_id: UUID) -> TimerQuerySet:
    """The active timers of a companion, that which is due first before the others."""
    return Timer.objects.active().filter(companion_id=companion_id).order_by("due_at", "pk")


def upcoming(timer: Timer, zone: ZoneInfo) -> list[datetime]:
    """The next five due times; none of a timer that is not active."""
    found: list[datetime] = []
    due = timer.due_at if timer.state == Timer.State.ACTIVE else None
    try:
        schedule = schedules.read(timer.schedule)
        while due and len(found) < UPCOMING:
            found.append(due)
            due = schedule.next(due, zone)
    except ScheduleError:  # written by another version of Kith: the tick sets it aside
        return []
    return found


def in_words(timer: Timer, zone: ZoneInfo, language: str) -> str:
    """The timer's schedule as a person would say it."""
    try:
        return schedules.in_words(schedules.read(timer.schedule), zone, language)
    except ScheduleError:
        return timer.schedule


def zone_of(companion: Companion) -> ZoneInfo:
    """Where the person lives; TimerError where this machine does not know the zone."""
    try:
        return companion.user.zone
    except (ZoneInfoNotFoundError, ValueError) as error:
        detail = _("The time zone %(zone)s is not known here. Choose yours in the settings.")
        raise TimerError("unknown_zone", detail % {"zone": companion.user.time_zone}) from error


def _kept(note: str) -> str:
    words = note.strip()
    if not is_storable(words):
        raise TimerError("bad_note", _("This holds signs that cannot be kept."))
    if len(words) > NOTE_CHARACTERS:
        raise TimerError("note_too_long", _("A note can have 1000 characters at most."))
    return words
