"""Schedules in plain words: simple ones in Kith's own translations, any other cron by cron-descriptor."""

import re
from collections.abc import Callable
from datetime import tzinfo

from cron_descriptor import FormatError, Options, get_description
from django.utils import translation
from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from companions.life.timers.schedules import After, Cron, Once, Schedule, resolve_local_time

DESCRIPTOR_LOCALES = {"zh-hans": "zh_CN"}
CRON_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
CRON_DAY = rf"(?:[0-7]|{'|'.join(CRON_DAYS)})"
SIMPLE = re.compile(
    rf"(?P<minute>\d+) (?P<hour>\d+) \* \* (?P<days>\*|1-5|MON-FRI|{CRON_DAY}(?:,{CRON_DAY})*)"
)
SPACE_BETWEEN_HAN = re.compile(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")
LENGTH_WORDS: dict[int, Callable[[int], str]] = {
    86400: lambda many: ngettext("in %(many)d day", "in %(many)d days", many),
    3600: lambda many: ngettext("in %(many)d hour", "in %(many)d hours", many),
    60: lambda many: ngettext("in %(many)d minute", "in %(many)d minutes", many),
    1: lambda many: ngettext("in %(many)d second", "in %(many)d seconds", many),
}
PAST_WORDS: dict[int, Callable[[int], str]] = {
    86400: lambda many: ngettext("after %(many)d day", "after %(many)d days", many),
    3600: lambda many: ngettext("after %(many)d hour", "after %(many)d hours", many),
    60: lambda many: ngettext("after %(many)d minute", "after %(many)d minutes", many),
    1: lambda many: ngettext("after %(many)d second", "after %(many)d seconds", many),
}


def describe_schedule(schedule: Schedule, zone: tzinfo, language: str, *, is_past: bool = False) -> str:
    """Return the schedule as a person would say it in this language, with times in the time zone: of a length of time,
    "in 2 hours", or "after 2 hours" if it `is_past`.
    """
    with translation.override(language or "en"):
        if isinstance(schedule, After):
            seconds = round(schedule.length.total_seconds())
            unit = next(unit for unit in LENGTH_WORDS if seconds % unit == 0)
            words = PAST_WORDS if is_past else LENGTH_WORDS
            return words[unit](seconds // unit) % {"many": seconds // unit}
        if isinstance(schedule, Once):
            at = resolve_local_time(schedule.local, zone).astimezone(zone)
            day, clock = date_format(at, pgettext("another year", "j F Y")), f"{at:%H:%M}"
            return _("once on %(day)s at %(time)s") % {"day": day, "time": clock}
        return _describe_simple_cron(schedule) or _describe_cron(schedule, language)


def _describe_simple_cron(cron: Cron) -> str:
    """Return words for a cron of every day, every weekday, or certain days of each week; empty for any other."""
    simple = SIMPLE.fullmatch(cron.fields)
    if not simple:
        return ""
    clock, days = f"{int(simple['hour']):02}:{int(simple['minute']):02}", simple["days"]
    if days == "*":
        return _("every day at %(time)s") % {"time": clock}
    if "-" in days:
        return _("every weekday at %(time)s") % {"time": clock}
    numbers = {int(day) if day.isdigit() else CRON_DAYS.index(day) for day in days.split(",")}
    first, *others = sorted({(number - 1) % 7 for number in numbers})
    named = str(WEEKDAYS[first])
    for day in others:
        pair = {"days": named, "day": WEEKDAYS[day]}
        named = _("%(days)s and %(day)s") % pair if day == others[-1] else _("%(days)s, %(day)s") % pair
    return _("every %(day)s at %(time)s") % {"day": named, "time": clock}


def _describe_cron(cron: Cron, language: str) -> str:
    """Return the description by cron-descriptor, or the cron's fields if it cannot describe them.

    cron-descriptor leaves the names of days and months in English; they are translated here.
    """
    options = Options(locale_code=DESCRIPTOR_LOCALES.get(language, "en_US"), use_24hour_time_format=True)
    try:
        words: str = get_description(cron.fields, options)
    except (FormatError, ValueError):  # it supports fewer forms than CronSim does
        return cron.fields
    if language not in DESCRIPTOR_LOCALES:
        return words[:1].lower() + words[1:]
    names = [*WEEKDAYS.values(), *MONTHS.values()]
    with translation.override("en"):
        english = [str(name) for name in names]
    for given, name in zip(english, names, strict=True):
        words = words.replace(given, str(name))
    return SPACE_BETWEEN_HAN.sub("", words.replace(", ", "，").replace("，和", "和")).strip()
