"""Schedules as people and models write them: `30s`, `5min`, `2h`, `1d`, `once:2026-04-10 09:00`, `cron:0 8 * * *`.

A new one may name its day as people do: `tomorrow 9:00`, `Saturday at 10:00`, `2026-04-10 09:00`.

A cron and a local time are read on the clock of a zone. A time that the clock leaps over is due at the first moment
after the leap; one that comes twice is due once, the first time. A length of time is one: a day of it is 24 hours.
"""

import re
from calendar import day_name
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise

from cron_descriptor import FormatError, Options, get_description
from cronsim import CronSim, CronSimError
from django.utils import translation
from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from companions.errors import ScheduleError
from companions.moments import FIRST_YEAR, LAST_YEAR

MAX_CHARACTERS = 120
MIN_INTERVAL = timedelta(minutes=10)
MAX_AHEAD = timedelta(days=5 * 366)
MINUTE = timedelta(minutes=1)
LEAP_YEAR = datetime(2000, 1, 1)  # noqa: DTZ001 - a clock of no zone
SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
LENGTH = re.compile(
    r"(?:in )?([0-9]+) ?(?:(?P<s>s|secs?|seconds?)|(?P<min>m|mins?|minutes?)|(?P<h>h|hours?)|(?P<d>d|days?))",
    re.IGNORECASE,
)
DAY_NAMES = [name.casefold() for name in day_name]
NAMED = re.compile(
    rf"(?:(?:on |next )?(?P<day>today|tomorrow|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|{'|'.join(DAY_NAMES)})[ ,T]+)?"
    r"(?:at )?(?P<clock>[0-9]{1,2}:[0-9]{2})",
    re.IGNORECASE,
)
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


@dataclass(frozen=True, slots=True)
class After:
    """So long after it was set."""

    text: str
    length: timedelta

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return now.astimezone(UTC) + self.length

    def next(self, after: datetime, zone: tzinfo) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Once:
    """At one time on the clock."""

    text: str
    local: datetime

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return get_moment(self.local, zone)

    def next(self, after: datetime, zone: tzinfo) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Cron:
    """Again and again, at the times on the clock that its five fields name; CronSimError where they name none."""

    text: str
    fields: str

    def __post_init__(self) -> None:
        CronSim(self.fields, LEAP_YEAR)

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return self.next(now, zone)

    def next(self, after: datetime, zone: tzinfo) -> datetime | None:
        """Return the first due time later than that; None where there is none within fifty years.

        It is looked for on a clock that is never changed: CronSim has rules of its own for those that are.
        """
        locally = CronSim(self.fields, after.astimezone(zone).replace(tzinfo=None))
        return next((due for local in locally if (due := get_moment(local, zone)) > after), None)

    @property
    def shortest(self) -> timedelta:
        """The least time between two that follow each other on the clock, of a day that is due."""
        day = CronSim(" ".join([*self.fields.split()[:2], "* * *"]), LEAP_YEAR)
        times = sorted(60 * hour + minute for hour in day.hours for minute in day.minutes)
        gaps = [later - earlier for earlier, later in pairwise([*times, times[0] + 24 * 60])]
        return timedelta(minutes=min(gaps))


Schedule = After | Once | Cron


def get_moment(local: datetime, zone: tzinfo) -> datetime:
    """Return when a clock in the zone shows that time for the first time, or has leapt over it."""
    while local.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        local += MINUTE
    return local.replace(tzinfo=zone).astimezone(UTC)


def get_due_times(schedule: Schedule, due: datetime | None, zone: tzinfo, limit: int) -> list[datetime]:
    """Return that due time and those that follow it, at most so many."""
    times: list[datetime] = []
    while due and len(times) < limit:
        times.append(due)
        due = schedule.next(due, zone)
    return times


# -- reading


def parse_new(text: str, now: datetime, zone: tzinfo) -> Schedule:
    """Return the schedule that somebody sets now; ScheduleError where it is none, or one that cannot be set."""
    schedule = parse(_date_named(text, now.astimezone(zone)))
    if isinstance(schedule, Cron) and schedule.shortest < MIN_INTERVAL:
        raise ScheduleError("too_often", _("This is too often: at least 10 minutes must lie between."))
    first = schedule.first(now, zone)
    if first is None or first > now + MAX_AHEAD:
        raise ScheduleError("too_far", TOO_FAR)
    if first <= now:
        there = f"{now.astimezone(zone):%Y-%m-%d %H:%M}"
        raise ScheduleError("in_the_past", _("This has passed: it is %(now)s now.") % {"now": there})
    return schedule


def _date_named(text: str, now: datetime) -> str:
    """Return a time on a day that is named as people do ("tomorrow 9:00", "Saturday at 10:00") with its date, the next to
    come; any other text as it is.
    """
    named = NAMED.fullmatch(" ".join(text[: MAX_CHARACTERS + 1].split()))
    if not named:
        return text
    day, clock = (named["day"] or "").casefold(), named["clock"].zfill(5)
    is_over = clock <= f"{now:%H:%M}"
    if day in DAY_NAMES:
        days = (DAY_NAMES.index(day) - now.weekday()) % 7 or 7 * is_over
    else:
        days = 1 if day == "tomorrow" else int(not day and is_over)
    date = day if day[:1].isdigit() else f"{now + timedelta(days=days):%Y-%m-%d}"
    return f"once:{date} {clock}"


def parse(text: str) -> Schedule:
    """Return the schedule that is written there, whenever it was set; ScheduleError where it is none."""
    words = " ".join(text[: MAX_CHARACTERS + 1].split())
    kind, colon, rest = words.partition(":")
    if len(text) > MAX_CHARACTERS:
        raise _bad_schedule(_("This is too long."))
    if not colon:
        return _parse_after(words)
    if kind.lower() == "once":
        return _parse_once(rest.strip())
    if kind.lower() == "cron":
        return _parse_cron(rest.strip())
    raise _bad_schedule(_("This is no schedule."))


def _parse_after(words: str) -> After:
    written = LENGTH.fullmatch(words)
    if not written:
        raise _bad_schedule(_("This is no schedule."))
    amount, unit = int(written[1]), str(written.lastgroup)
    if not amount:
        raise ScheduleError("too_soon", _("This is no time at all: at least one second."))
    if amount * SECONDS[unit] > MAX_AHEAD.total_seconds():
        raise ScheduleError("too_far", TOO_FAR)
    return After(f"{amount}{unit}", timedelta(seconds=amount * SECONDS[unit]))


def _parse_once(words: str) -> Once:
    written = CLOCK.fullmatch(words)
    if not written:
        raise _bad_schedule(_("This is no date with a time."))
    try:
        local = datetime.combine(date.fromisoformat(written[1]), time(int(written[2]), int(written[3])))
    except ValueError as error:
        raise ScheduleError("no_such_day", _("There is no such date or time.")) from error
    if not FIRST_YEAR <= local.year <= LAST_YEAR:
        raise ScheduleError("no_such_day", _("There is no such date or time."))
    return Once(f"once:{local:%Y-%m-%d %H:%M}", local)


def _parse_cron(fields: str) -> Cron:
    if len(fields.split(" ")) != 5:
        raise _bad_schedule(_("A cron has five fields."), "bad_cron")
    try:
        return Cron(f"cron:{fields.upper()}", fields.upper())
    except CronSimError as error:
        raise _bad_schedule(BAD_FIELDS.get(str(error), str(error)), "bad_cron") from error


def _bad_schedule(why: str | Promise, code: str = "bad_schedule") -> ScheduleError:
    return ScheduleError(code, f"{why} {FORMS}")


# -- in plain words: the simple ones in Kith's own, any other cron in those of cron-descriptor

DESCRIPTOR_LOCALES = {"zh-hans": "zh_CN"}
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
SIMPLE = re.compile(rf"(?P<minute>\d+) (?P<hour>\d+) \* \* (?P<days>\*|1-5|MON-FRI|[0-7]|{'|'.join(DAYS)})")
SPACE_BETWEEN_HAN = re.compile(r"(?<=[\u3400-\u9fff,]) (?=[\u3400-\u9fff])")
LENGTHS: dict[int, Callable[[int], str]] = {
    86400: lambda many: ngettext("in %(many)d day", "in %(many)d days", many),
    3600: lambda many: ngettext("in %(many)d hour", "in %(many)d hours", many),
    60: lambda many: ngettext("in %(many)d minute", "in %(many)d minutes", many),
    1: lambda many: ngettext("in %(many)d second", "in %(many)d seconds", many),
}


def describe(schedule: Schedule, zone: tzinfo, language: str) -> str:
    """Return the schedule as a person would say it, times as a clock of that zone shows them."""
    with translation.override(language or "en"):
        if isinstance(schedule, After):
            seconds = round(schedule.length.total_seconds())
            unit = next(unit for unit in LENGTHS if seconds % unit == 0)
            return LENGTHS[unit](seconds // unit) % {"many": seconds // unit}
        if isinstance(schedule, Once):
            at = get_moment(schedule.local, zone).astimezone(zone)
            day, clock = date_format(at, pgettext("another year", "j F Y")), f"{at:%H:%M}"
            return _("once on %(day)s at %(time)s") % {"day": day, "time": clock}
        return _describe_simple_cron(schedule) or _describe_cron(schedule, language)


def _describe_simple_cron(cron: Cron) -> str:
    """Return words for every day, every weekday, or one day of each week; empty where it is none of these."""
    simple = SIMPLE.fullmatch(cron.fields)
    if not simple:
        return ""
    clock, days = f"{int(simple['hour']):02}:{int(simple['minute']):02}", simple["days"]
    if days == "*":
        return _("every day at %(time)s") % {"time": clock}
    if "-" in days:
        return _("every weekday at %(time)s") % {"time": clock}
    number = int(days) if days.isdigit() else DAYS.index(days)
    return _("every %(day)s at %(time)s") % {"day": WEEKDAYS[(number - 1) % 7], "time": clock}


def _describe_cron(cron: Cron, language: str) -> str:
    """Return the words of cron-descriptor, or the fields as they are where it knows no words for them.

    It leaves days and months in the process's language: here they are put into the reader's.
    """
    options = Options(locale_code=DESCRIPTOR_LOCALES.get(language, "en_US"), use_24hour_time_format=True)
    try:
        words: str = get_description(cron.fields, options)
    except (FormatError, ValueError):  # it reads fewer forms than CronSim does
        return cron.fields
    if language not in DESCRIPTOR_LOCALES:
        return words[:1].lower() + words[1:]
    names = [*WEEKDAYS.values(), *MONTHS.values()]
    with translation.override("en"):
        english = [str(name) for name in names]
    for given, name in zip(english, names, strict=True):
        words = words.replace(given, str(name))
    return SPACE_BETWEEN_HAN.sub("", words.replace(", ", ",").replace(",和", "和")).strip()
