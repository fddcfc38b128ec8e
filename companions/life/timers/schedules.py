"""Schedules as people and models write them: `30s`, `5min`, `2h`, `1d`, `once:2026-04-10 09:00`, `cron:0 8 * * *`.

A new one may be written as people do: `tomorrow 9:00`, `Saturday at 10 pm`, `2026-04-10 09:00`, `明天下午三点`,
`every Monday at 7:00`, `每天早上7点`, `半小时后`.

Crons and local times are in a time zone. A time that daylight saving skips is due at the first moment after the gap;
one that occurs twice is due the first time only. A day in a length of time is 24 hours.
"""

import re
from calendar import day_name
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise

from cronsim import CronSim, CronSimError
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companions.errors import ScheduleError
from companions.moments import FIRST_YEAR, LAST_YEAR
from text.dates import WEEKDAY_SIGNS, find_days_ahead, read_number

MAX_CHARACTERS = 120
MIN_INTERVAL = timedelta(minutes=10)
MAX_AHEAD = timedelta(days=5 * 366)
MINUTE = timedelta(minutes=1)
ANY_LEAP_YEAR = datetime(2000, 1, 1)  # noqa: DTZ001 (cron fields have no time zone)
SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
LENGTH = re.compile(
    r"(?:in )?([0-9]+) ?(?:(?P<s>s|secs?|seconds?)|(?P<min>m|mins?|minutes?)|(?P<h>h|hours?)|(?P<d>d|days?))",
    re.IGNORECASE,
)
WEEKDAYS = {name.casefold(): number for number, name in enumerate(day_name)} | {
    f"{week}{sign}": number
    for week in ("周", "星期", "礼拜")
    for number, sign in [*enumerate(WEEKDAY_SIGNS), (6, "天")]
}
DAYS_ON = {"today": 0, "tomorrow": 1, "今天": 0, "明天": 1, "后天": 2, "今": 0, "明": 1}
NUMERAL = "(?:[二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
CHINESE_DAY = (  # as `find_days_ahead` reads it
    "大后天|下{1,2}个?(?:周|星期|礼拜)[一二三四五六日天]"
    rf"|(?:下个?月|(?:[0-9]{{4}}年)?(?:[0-9]{{1,2}}|{NUMERAL})月)(?:[0-9]{{1,2}}|{NUMERAL})[日号]"
)
DAY = (
    rf"(?:on |next )?(?P<day>{'|'.join([*DAYS_ON, *WEEKDAYS])}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}"
    rf"|(?P<chinese>{CHINESE_DAY}))"
)
TIME = (  # "早" and "晚" as in "明早"
    r"(?:at )?(?P<part>早上?|上午|中午|下午|晚上?)?"
    rf"(?P<hour>[0-9]{{1,2}}|{NUMERAL}(?=点))"
    rf"(?P<sign>[:：点](?P<minute>[0-9]{{2}}|半|{NUMERAL})?(?::[0-9]{{2}}|分)?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?"
)
NAMED = [
    re.compile(rf"(?:{DAY}[ ,T]*)?{TIME}", re.IGNORECASE),
    re.compile(rf"{TIME},? {DAY}", re.IGNORECASE),
]
REPEATED_DAYS = {  # as the last field of a cron
    **dict.fromkeys(("every day", "each day", "everyday", "daily", "每天", "每日", "每"), "*"),
    **dict.fromkeys(("every weekday", "weekdays", "每个工作日", "工作日"), "1-5"),
    **{f"every {name}" if name.isascii() else f"每{name}": str(day + 1) for name, day in WEEKDAYS.items()},
}
REPEATED_DAY = f"(?P<days>{'|'.join(sorted(REPEATED_DAYS, key=len, reverse=True))})"
REPEATED = [
    re.compile(rf"{REPEATED_DAY}[ ,]*{TIME}", re.IGNORECASE),
    re.compile(rf"{TIME},? {REPEATED_DAY}", re.IGNORECASE),
]
CHINESE_LENGTH = re.compile(rf"(?P<many>[0-9]+|半|{NUMERAL})个?(?P<unit>秒|分|小时|天)钟?(?:之?后|以后)?")
CHINESE_UNITS = {"秒": "s", "分": "min", "小时": "h", "天": "d"}
HALF_UNITS = {"分": "30s", "小时": "30min", "天": "12h"}
CRON_FIELDS = re.compile(r"[0-9*][0-9*/,-]*(?: [0-9*][0-9*/,-]*){3} [0-9A-Za-z*/,-]+")
LATER_HALF = {"p", "下午", "晚", "晚上"}
CLOCK = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?", re.IGNORECASE)
SYNTAX_HELP = gettext_lazy(
    "Write one of: 30s, 5min, 2h, 1d, once:2026-04-10 09:00, or cron:0 8 * * * with five fields "
    "(minute, hour, day of the month, month, day of the week)."
)
BAD_FIELDS = {
    "Bad minute": gettext_lazy("Minutes in a cron go from 0 to 59."),
    "Bad hour": gettext_lazy("Hours in a cron go from 0 to 23."),
    "Bad day-of-month": gettext_lazy("There is no such day of the month."),
    "Bad month": gettext_lazy("Months in a cron go from 1 to 12, or JAN to DEC."),
    "Bad day-of-week": gettext_lazy("The days of the week are 0 (Sunday) to 7, or SUN to SAT."),
}
TOO_FAR = gettext_lazy("This is too far away: choose a time within five years.")


@dataclass(frozen=True, slots=True)
class After:
    """Due once, a length of time after it was set."""

    text: str
    length: timedelta

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return now.astimezone(UTC) + self.length

    def next(self, after: datetime, zone: tzinfo) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Once:
    """Due once, at a local date and time."""

    text: str
    local: datetime

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return resolve_local_time(self.local, zone)

    def next(self, after: datetime, zone: tzinfo) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Cron:
    """Due repeatedly, at the local times that five cron fields name. Raise CronSimError if the fields are invalid."""

    text: str
    fields: str

    def __post_init__(self) -> None:
        CronSim(self.fields, ANY_LEAP_YEAR)

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return self.next(now, zone)

    def next(self, after: datetime, zone: tzinfo) -> datetime | None:
        """Return the first due time later than `after`, or None if there is none within fifty years.

        CronSim gets naive local times, since its own rules for daylight saving differ from those of this module.
        """
        locally = CronSim(self.fields, after.astimezone(zone).replace(tzinfo=None))
        return next((due for local in locally if (due := resolve_local_time(local, zone)) > after), None)

    @property
    def shortest_gap(self) -> timedelta:
        """The shortest time between two due times, as if the cron were due on every day."""
        day = CronSim(" ".join([*self.fields.split()[:2], "* * *"]), ANY_LEAP_YEAR)
        times = sorted(60 * hour + minute for hour in day.hours for minute in day.minutes)
        gaps = [later - earlier for earlier, later in pairwise([*times, times[0] + 24 * 60])]
        return timedelta(minutes=min(gaps))


Schedule = After | Once | Cron


def resolve_local_time(local: datetime, zone: tzinfo) -> datetime:
    """Return when a clock in the zone first shows the local time; if daylight saving skips it, the end of the gap."""
    while local.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        local += MINUTE
    return local.replace(tzinfo=zone).astimezone(UTC)


def get_due_times(schedule: Schedule, due: datetime | None, zone: tzinfo, limit: int) -> list[datetime]:
    """Return the due time `due` and those that follow it, at most `limit`; an empty list for None."""
    times: list[datetime] = []
    while due and len(times) < limit:
        times.append(due)
        due = schedule.next(due, zone)
    return times


# -- parsing


def parse_new(text: str, now: datetime, zone: tzinfo) -> Schedule:
    """Parse a schedule that is set now. Raise ScheduleError if it is invalid, too frequent, too far ahead, or past."""
    schedule = parse(resolve_written(text, now.astimezone(zone)))
    if isinstance(schedule, Cron) and schedule.shortest_gap < MIN_INTERVAL:
        raise ScheduleError("too_often", _("This is too often: leave at least 10 minutes in between."))
    first = schedule.first(now, zone)
    if first is None or first > now + MAX_AHEAD:
        raise ScheduleError("too_far", TOO_FAR)
    if first <= now:
        there = f"{now.astimezone(zone):%Y-%m-%d %H:%M}"
        raise ScheduleError("in_the_past", _("This time has passed: it is %(now)s now.") % {"now": there})
    return schedule


def resolve_written(text: str, now: datetime) -> str:
    """Return a schedule for a time as people write it: "once:DATE TIME", the next such date, for "Saturday at 10 pm",
    "cron:…" for "every day at 9:00" and for the bare fields of a cron, "30min" for "半小时后". Return any other text
    unchanged. `now` must be in the user's zone.
    """
    words = " ".join(text[: MAX_CHARACTERS + 1].split())
    if CRON_FIELDS.fullmatch(words):
        return f"cron:{words}"
    if length := CHINESE_LENGTH.fullmatch(words):
        many, unit = length["many"], length["unit"]
        return HALF_UNITS.get(unit, text) if many == "半" else f"{read_number(many)}{CHINESE_UNITS[unit]}"
    repeated = next(filter(None, (pattern.fullmatch(words) for pattern in REPEATED)), None)
    if repeated and (clock := _read_clock(repeated)):
        hour, minute = clock.split(":")
        return f"cron:{int(minute)} {int(hour)} * * {REPEATED_DAYS[repeated['days'].casefold()]}"
    named = next(filter(None, (pattern.fullmatch(words) for pattern in NAMED)), None)
    clock = _read_clock(named) if named else ""
    if named is None or not clock:
        return text
    day, is_over = (named["day"] or "").casefold(), clock <= f"{now:%H:%M}"
    if named["chinese"]:
        ahead = find_days_ahead(day, now.date())
        return f"once:{ahead[0]} {clock}" if ahead else text
    if day[:1].isdigit():
        return f"once:{day} {clock}"
    days = DAYS_ON.get(day, 0)
    if day in WEEKDAYS:
        days = (WEEKDAYS[day] - now.weekday()) % 7
        if days == 0 and is_over:
            days = 7
    elif not day and is_over:
        days = 1
    return f"once:{now + timedelta(days=days):%Y-%m-%d} {clock}"


def _read_clock(named: re.Match[str]) -> str:
    """Return the time of day as "07:30"; "" if it is none: "7" alone, or "7:" without minutes."""
    sign, half = named["sign"] or "", (named["half"] or named["part"] or "").casefold()
    if not (sign or named["half"]) or (sign[:1] in (":", "：") and not named["minute"]):
        return ""
    hour = read_number(named["hour"])
    if half[:1] == "晚" and (hour == 12 or hour < 5):  # after midnight, at the end of the day that is named
        return ""
    if (half in LATER_HALF and hour < 12) or (half == "中午" and hour < 3):
        hour += 12
    minute = 30 if named["minute"] == "半" else read_number(named["minute"] or "0")
    return f"{0 if half == 'a' and hour == 12 else hour:02}:{minute:02}"


def parse(text: str) -> Schedule:
    """Parse a schedule, whether or not it could still be set now. Raise ScheduleError if it is invalid."""
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
    raise _bad_schedule(_("This is not a schedule."))


def _parse_after(words: str) -> After:
    written = LENGTH.fullmatch(words)
    if not written:
        raise _bad_schedule(_("This is not a schedule."))
    amount, unit = int(written[1]), str(written.lastgroup)
    if not amount:
        raise ScheduleError("too_soon", _("This is too short: at least one second."))
    if amount * SECONDS[unit] > MAX_AHEAD.total_seconds():
        raise ScheduleError("too_far", TOO_FAR)
    return After(f"{amount}{unit}", timedelta(seconds=amount * SECONDS[unit]))


def _parse_once(words: str) -> Once:
    written = CLOCK.fullmatch(words)
    if not written:
        raise _bad_schedule(_("This is not a date with a time."))
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
    return ScheduleError(code, f"{why} {SYNTAX_HELP}")
