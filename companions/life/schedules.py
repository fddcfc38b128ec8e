"""Schedules as people and models write them: `30s`, `5min`, `2h`, `1d`, `once:2026-04-10 09:00`, `cron:0 8 * * *`."""

import re
from datetime import date, datetime, time, timedelta, tzinfo

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companions.errors import ScheduleError
from companions.life.due_times import After, Cron, CronError, Once, Schedule
from companions.life.plain_words import in_words
from companions.moments import FIRST_YEAR, LAST_YEAR

__all__ = ["Schedule", "ScheduleError", "in_words", "parse", "read", "upcoming"]

LONGEST = 120  # characters
LEAST_BETWEEN = timedelta(minutes=10)
FARTHEST = timedelta(days=5 * 366)
SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
LENGTH = re.compile(r"([0-9]+) ?(s|min|h|d)", re.IGNORECASE)
CLOCK = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{1,2}):([0-9]{2})", re.IGNORECASE)
FORMS = gettext_lazy(
    "Write one of: 30s, 5min, 2h, 1d, once:2026-04-10 09:00, or cron:0 8 * * * with five fields "
    "(minute, hour, day of the month, month, day of the week)."
)
BAD_FIELDS = {
    "Bad minute": gettext_lazy("The minutes of a cron are 0 to 59."),
    "Bad hour": gettext_lazy("The hours of a cron are 0 to 23."),
    "Bad day-of-month": gettext_lazy("There is no such day of the month."),
    "Bad month": gettext_lazy("The months of a cron are 1 to 12, or JAN to DEC."),
    "Bad day-of-week": gettext_lazy("The days of the week are 0 (Sunday) to 7, or SUN to SAT."),
}
TOO_FAR = gettext_lazy("This is too far away: at most five years ahead.")


def parse(text: str, now: datetime, zone: tzinfo) -> Schedule:
    """The schedule that somebody sets now; ScheduleError where it is none, or one that cannot be set."""
    schedule = read(text)
    if isinstance(schedule, Cron) and schedule.shortest < LEAST_BETWEEN:
        raise ScheduleError("too_often", _("This is too often: at least 10 minutes must lie between."))
    first = schedule.first(now, zone)
    if first is None or first > now + FARTHEST:
        raise ScheduleError("too_far", TOO_FAR)
    if first <= now:
        there = f"{now.astimezone(zone):%Y-%m-%d %H:%M}"
        raise ScheduleError("in_the_past", _("This has passed: it is %(now)s now.") % {"now": there})
    return schedule


def read(text: str) -> Schedule:
    """The schedule that is written there, whenever it was set; ScheduleError where it is none."""
    words = " ".join(text[: LONGEST + 1].split())
    kind, colon, rest = words.partition(":")
    if len(text) > LONGEST:
        raise _wrong(_("This is too long."))
    if not colon:
        return _after(words)
    if kind.lower() == "once":
        return _once(rest.strip())
    if kind.lower() == "cron":
        return _cron(rest.strip())
    raise _wrong(_("This is no schedule."))


def upcoming(schedule: Schedule, now: datetime, zone: tzinfo, count: int) -> list[datetime]:
    """The first due times of a schedule that is set now, at most so many."""
    found: list[datetime] = []
    due = schedule.first(now, zone)
    while due and len(found) < count:
        found.append(due)
        due = schedule.next(due, zone)
    return found


def _after(words: str) -> After:
    written = LENGTH.fullmatch(words)
    if not written:
        raise _wrong(_("This is no schedule."))
    amount, unit = int(written[1]), written[2].lower()
    if not amount:
        raise ScheduleError("too_soon", _("This is no time at all: at least one second."))
    if amount * SECONDS[unit] > FARTHEST.total_seconds():
        raise ScheduleError("too_far", TOO_FAR)
    return After(f"{amount}{unit}", timedelta(seconds=amount * SECONDS[unit]))


def _once(words: str) -> Once:
    written = CLOCK.fullmatch(words)
    if not written:
        raise _wrong(_("This is no date with a time."))
    try:
        local = datetime.combine(date.fromisoformat(written[1]), time(int(written[2]), int(written[3])))
    except ValueError as error:
        raise ScheduleError("no_such_day", _("There is no such date or time.")) from error
    if not FIRST_YEAR <= local.year <= LAST_YEAR:
        raise ScheduleError("no_such_day", _("There is no such date or time."))
    return Once(f"once:{local:%Y-%m-%d %H:%M}", local)


def _cron(fields: str) -> Cron:
    if len(fields.split(" ")) != 5:
        raise _wrong(_("A cron has five fields."), "bad_cron")
    try:
        return Cron(f"cron:{fields.upper()}", fields.upper())
    except CronError as error:
        raise _wrong(BAD_FIELDS.get(str(error), str(error)), "bad_cron") from error


def _wrong(why: str | Promise, code: str = "bad_schedule") -> ScheduleError:
    return ScheduleError(code, f"{why} {FORMS}")
