"""Set, cancel, fire, and restart timers, move them with their person's time zone, and make wakings of due ones."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from companions.errors import ScheduleError, TimerError
from companions.life.timers import schedules
from companions.life.timers.schedule_words import describe_schedule
from companions.life.timers.schedules import After, Cron, Once
from companions.models import Companion, Message, Timer, Waking
from companions.models.companion import hold, lock
from companions.models.timer import NOTE_CHARACTERS, TimerQuerySet
from database.journal import everywhere
from database.queries import fetch_ids
from jobs.background import enqueue
from text.strings import is_storable

log = structlog.get_logger(__name__)

MAX_ACTIVE = 50  # of one companion
MAX_AT_ONCE = 10  # timers set in one turn or waking
UPCOMING_COUNT = 5
TICK_AT_ONCE_WITHIN = timedelta(minutes=2)  # a timer due so soon gets a tick of its own, to be on time
FILLED_AT_ONCE = 500
CLAIMED_AT_ONCE = 1000
BEGUN_AT_ONCE = 100
LEASE_TIME = timedelta(minutes=2)  # a worker makes wakings of the timers that it claimed within seconds
BUSY_DELAY = timedelta(seconds=5)
MAX_ATTEMPTS = 3
UNREADABLE = (ScheduleError, LookupError, ValueError, ArithmeticError)
MAX_MISSED = 10_000  # missed due times are counted up to here; further ones are skipped
TOO_MANY = gettext_lazy("There are already 50 timers, which is the most. Cancel one first.")
# The timers that every companion gets when it is created.
PREDEFINED = {
    "evening": (
        "cron:55 22 * * *",
        gettext_lazy("The day is ending: look back on it, and write your diary."),
    ),
    "morning": ("cron:0 8 * * *", gettext_lazy("A new day: think of what it may bring for the two of you.")),
}
# One statement: the ORM has no UPDATE … RETURNING, and thousands may be due at once.
CLAIM = """
UPDATE companions_timer SET look_at = %(until)s WHERE id IN (
    SELECT id FROM companions_timer WHERE state = 'active' AND look_at <= %(now)s AND NOT is_asleep
     ORDER BY look_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING id
"""


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
    """Create and return a timer. In a turn or waking, return instead the one that this turn or waking has set with this
    schedule and note, unless it was cancelled, or an active one with this note that is due at the same times.

    A timer set in a waking never counts as asked for. Raise TimerError if the timer cannot be set.
    """
    zone, note = get_zone(companion), note.strip()
    is_asked_for = is_asked_for and waking is None  # or reminders would set further reminders
    if not is_storable(note):
        raise TimerError("bad_note", _("This contains characters that cannot be saved."))
    if len(note) > NOTE_CHARACTERS:
        raise TimerError("note_too_long", _("A note can have up to 1000 characters."))
    set_here = Timer.objects.filter(companion=companion, message=message, waking=waking)
    lock(companion.pk)
    if message or waking:
        resolved = schedules.parse(schedules.resolve_written(schedule, now.astimezone(zone)))
        before = set_here.filter(schedule=resolved.text, note=note).exclude(state=Timer.State.CANCELLED)
        same = before.first()
        if same is None and not isinstance(resolved, After):
            planned = get_planned(companion.pk).filter(schedule=resolved.text, note__iexact=note)
            same = planned.filter(is_asked_for=is_asked_for).first()
        if same:
            return same
        if set_here.count() >= MAX_AT_ONCE:
            detail = _("At most 10 timers can be set in one turn.")
            raise TimerError("too_many_at_once", detail, 409)
    _check_room(companion.pk)
    parsed = schedules.parse_new(schedule, now, zone)
    due = parsed.first(now, zone)
    timer = Timer.objects.create(
        companion=companion,
        schedule=parsed.text,
        note=note,
        by=by,
        is_asked_for=is_asked_for,
        message=message,
        waking=waking,
        due_at=due,
        look_at=due,
        created_at=now,
    )
    if due and due - now <= TICK_AT_ONCE_WITHIN:
        enqueue("companions.life.tasks.tick", delay_seconds=(due - now).total_seconds())
    return timer


def _check_room(companion_id: UUID) -> None:
    if get_planned(companion_id).count() >= MAX_ACTIVE:
        raise TimerError("too_many_timers", TOO_MANY, 409)


@transaction.atomic
def cancel(timer: Timer, now: datetime) -> bool:
    """Cancel the timer if it is active or a dead letter; return whether it was."""
    lock(timer.companion_id)
    return bool(
        Timer.objects.not_ended().filter(pk=timer.pk).update(state=Timer.State.CANCELLED, ended_at=now)
    )


@transaction.atomic
def restart(timer: Timer, now: datetime) -> bool:
    """Restart a timer that is cancelled or a dead letter; return False if it is neither or has no coming due time.

    Raise TimerError if its schedule cannot be parsed, or if the companion has too many timers.
    """
    lock(timer.companion_id)
    still = Timer.objects.filter(pk=timer.pk, state__in=[Timer.State.CANCELLED, Timer.State.DEAD_LETTER])
    stopped = still.select_related("companion__user").first()
    if stopped is None:
        return False
    _check_room(timer.companion_id)
    due = schedules.parse(stopped.schedule).first(now, get_zone(stopped.companion))
    if due is None or due <= now:
        return False
    fresh = {"state": Timer.State.ACTIVE, "attempts": 0, "error": "", "ended_at": None}
    return bool(still.update(due_at=due, look_at=due, **fresh))


@transaction.atomic
def fire(timer: Timer, now: datetime, *, is_asked_for: bool = False) -> Waking:
    """Fire the timer by hand and return the new waking; the timer's own due time does not change.

    The waking counts as asked for if the timer does, or if `is_asked_for`, i.e. the person fires it. Raise TimerError
    if the timer has ended or was cancelled.
    """
    lock(timer.companion_id)
    if not Timer.objects.not_ended().filter(pk=timer.pk).exists():
        raise TimerError("timer_over", _("This reminder has ended."), 409)
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
    enqueue("companions.life.tasks.wake", str(waking.pk))
    return waking


def get_planned(companion_id: UUID) -> TimerQuerySet:
    """Return the active timers of a companion, the next one due first."""
    return Timer.objects.active().filter(companion_id=companion_id).order_by("due_at", "pk")


def get_upcoming(timer: Timer, zone: ZoneInfo) -> list[datetime]:
    """Return the timer's next five due times, or an empty list if it is not active or cannot be parsed."""
    if timer.state != Timer.State.ACTIVE:
        return []
    try:
        schedule = schedules.parse(timer.schedule)
        return schedules.get_due_times(schedule, timer.due_at, zone, UPCOMING_COUNT)
    except ScheduleError:  # written by another version of Kith: the tick makes it a dead letter
        return []


def describe(timer: Timer, zone: ZoneInfo, language: str, *, is_past: bool = False) -> str:
    """Return the timer's schedule as a person would say it in this language, or its text if it cannot be parsed.

    Of one that was due (`is_past`), "after 2 hours", not "in 2 hours".
    """
    try:
        return describe_schedule(schedules.parse(timer.schedule), zone, language, is_past=is_past)
    except ScheduleError:
        return timer.schedule


def get_zone(companion: Companion) -> ZoneInfo:
    """Return the time zone of the companion's person. Raise TimerError if this machine does not know it."""
    try:
        return companion.user.zone
    except (ZoneInfoNotFoundError, ValueError) as error:
        detail = _("Kith does not know the time zone %(zone)s. Choose yours in the settings.")
        raise TimerError("unknown_zone", detail % {"zone": companion.user.time_zone}) from error


# -- the predefined timers of evening and morning


@everywhere()
def set_predefined(companion: Companion, now: datetime) -> int:
    """Set the predefined timers that the companion lacks; return how many. A cancelled one counts as present.

    Raise TimerError if this machine does not know the person's time zone.
    """
    if not lock(companion.pk):
        return 0
    known = Timer.objects.filter(companion=companion, name__in=PREDEFINED).values_list("name", flat=True)
    return add_predefined(companion, PREDEFINED.keys() - set(known), now)


def add_predefined(companion: Companion, names: Collection[str], now: datetime) -> int:
    """Create these predefined timers for a companion that has none of them; return how many."""
    added = []
    for name in names:
        schedule, note = PREDEFINED[name]
        due = schedules.parse(schedule).first(now, get_zone(companion))
        with companion.user.use_language():
            given = {"schedule": schedule, "name": name, "note": str(note), "by": Timer.By.KITH}
        added.append(Timer(companion=companion, due_at=due, look_at=due, created_at=now, **given))
    return len(Timer.objects.bulk_create(added))


def set_missing_predefined(now: datetime) -> int:
    """Set the predefined timers of companions that lack any, at most FILLED_AT_ONCE companions; return how many."""
    lacks = Q()
    for name in PREDEFINED:
        lacks |= ~Q(Exists(Timer.objects.filter(companion=OuterRef("pk"), name=name)))
    count = 0
    for companion in Companion.objects.filter(lacks).select_related("user")[:FILLED_AT_ONCE]:
        try:
            count += set_predefined(companion, now)
        except TimerError as error:
            log.warning("timers_missing", companion_id=str(companion.pk), code=error.code)
    return count


# -- following the person into another time zone: eight in the morning is eight o'clock where they are


@receiver(post_save, sender=User)
def follow_saved_user(
    instance: User, created: bool, update_fields: Collection[str] | None, **_more: Any
) -> None:
    if not created and (update_fields is None or "time_zone" in update_fields):
        follow_time_zone(instance, timezone.now())


def follow_time_zone(person: User, now: datetime) -> int:
    """Move the timers of the person's companions to their current time zone; return how many have changed."""
    ids = Companion.objects.owned_by(person).values_list("pk", flat=True)
    return sum(move_timers(companion_id, now) for companion_id in ids)


@transaction.atomic
def move_timers(companion_id: UUID, now: datetime) -> int:
    """Move the due times of the companion's timers to its person's time zone; return how many have changed."""
    companion = hold(companion_id)
    if companion is None:
        return 0
    # Those on branches that are not chosen, too: their times would be of the former zone when one is chosen again.
    waiting = Timer.everywhere.active().filter(companion=companion, due_at__gt=now).select_for_update()
    moved = [timer for timer in waiting if _move(timer, companion, now)]
    return Timer.everywhere.bulk_update(moved, ["due_at", "look_at"]) if moved else 0


def _move(timer: Timer, companion: Companion, now: datetime) -> bool:
    """Set the timer's due time for the person's time zone, without saving; return whether it changed.

    A time that has passed there is due at once. Lengths of time do not change, and a schedule that cannot be parsed is
    left to the tick.
    """
    try:
        schedule = schedules.parse(timer.schedule)
        due = schedule.first(now, get_zone(companion)) if isinstance(schedule, Cron | Once) else None
    except TimerError:
        return False
    if due is None or due == timer.due_at:
        return False
    timer.due_at = timer.look_at = due
    return True


# -- the tick: due timers are claimed in batches, and each due time becomes one waking


def claim_timers(now: datetime, limit: int) -> list[UUID]:
    """Lease at most `limit` due timers, longest due first, and return their ids."""
    return fetch_ids(CLAIM, {"now": now, "until": now + LEASE_TIME, "limit": limit})


@transaction.atomic
def begin_wakings(timer_ids: Collection[UUID], now: datetime) -> list[UUID]:
    """Create the wakings of these claimed timers, set the timers' next due times, and return the new wakings' ids.

    A timer that cannot be parsed does not affect the others: its failures are counted until it is a dead letter.
    """
    timers = _lock_timers(timer_ids, now)
    wakings = [waking for timer in timers if (waking := _begin_waking(timer, now))]
    Waking.objects.bulk_create(wakings, ignore_conflicts=True)
    Timer.objects.bulk_update(timers, ["state", "due_at", "look_at", "ended_at", "attempts", "error"])
    # Without wakings that existed already: their new rows were ignored as conflicts.
    begun = Waking.objects.filter(pk__in=[waking.pk for waking in wakings])
    return list(begun.values_list("pk", flat=True))


def _lock_timers(timer_ids: Collection[UUID], now: datetime) -> list[Timer]:
    """Return the timers that are still active and due, locked with their companions.

    If a companion is locked by another transaction, e.g. one that deletes it, its timers are postponed by BUSY_DELAY.
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
    """Return an unsaved waking for the timer's latest past due time, and set its next one; None if that fails."""
    due = missed_since = timer.due_at
    assert due is not None  # noqa: S101 (an active timer has one, by constraint)
    missed = 0
    try:
        schedule, zone = schedules.parse(timer.schedule), timer.companion.user.zone
        while (following := schedule.next(due, zone)) and following <= now and missed < MAX_MISSED:
            due, missed = following, missed + 1
        if following and following <= now:
            following = schedule.next(now, zone)
    except UNREADABLE as error:
        _note_failure(timer, now, error)
        return None
    timer.due_at = timer.look_at = following
    if following is None:
        timer.state, timer.ended_at = Timer.State.ENDED, now
    return Waking(
        companion_id=timer.companion_id,
        timer=timer,
        origin=Waking.Origin.TIMER,
        due_at=due,
        missed=missed,
        missed_since=missed_since if missed else None,
        note=timer.note,
        is_asked_for=timer.is_asked_for,
        look_at=now,
        created_at=now,
    )


def _note_failure(timer: Timer, now: datetime, error: Exception) -> None:
    """Count the failure; after the last attempt make the timer a dead letter, and log an error."""
    timer.attempts, timer.error = timer.attempts + 1, getattr(error, "code", "internal_error")
    timer.look_at = now + timedelta(minutes=2**timer.attempts)
    if timer.attempts >= MAX_ATTEMPTS:
        timer.state, timer.due_at, timer.look_at = Timer.State.DEAD_LETTER, None, None
        log.error("timer_set_aside", timer_id=str(timer.pk), code=timer.error)
