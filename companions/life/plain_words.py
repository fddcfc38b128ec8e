"""A schedule in plain words: the simple ones in Kith's own, any other cron in those of cron-descriptor."""

import re
from collections.abc import Callable
from datetime import timedelta, tzinfo

from cron_descriptor import FormatError, Options, get_description
from django.utils import translation
from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from companions.life.due_times import After, Cron, Once, Schedule, moment

LOCALES = {"zh-hans": "zh_CN"}
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
CLOCK = re.compile(rf"(?P<minute>\d+) (?P<hour>\d+) \* \* (?P<days>\*|1-5|MON-FRI|[0-7]|{'|'.join(DAYS)})")
BETWEEN_HAN = re.compile(r"(?<=[\u3400-\u9fff,]) (?=[\u3400-\u9fff])")
MANY_OF: dict[int, Callable[[int], str]] = {
    86400: lambda many: ngettext("in %(many)d day", "in %(many)d days", many),
    3600: lambda many: ngettext("in %(many)d hour", "in %(many)d hours", many),
    60: lambda many: ngettext("in %(many)d minute", "in %(many)d minutes", many),
    1: lambda many: ngettext("in %(many)d second", "in %(many)d seconds", many),
}


def in_words(schedule: Schedule, zone: tzinfo, language: str) -> str:
    """The schedule as a person would say it, times as a clock of that zone shows them."""
    with translation.override(language or "en"):
        if isinstance(schedule, After):
            return _length(schedule.length)
        if isinstance(schedule, Once):
            at = moment(schedule.local, zone).astimezone(zone)
            day, clock = date_format(at, pgettext("another year", "j F Y")), f"{at:%H:%M}"
            return _("once on %(day)s at %(time)s") % {"day": day, "time": clock}
        return _plainly(schedule) or _described(schedule, language)


def _length(length: timedelta) -> str:
    """In the largest unit that it is a whole number of."""
    seconds = round(length.total_seconds())
    unit = next(unit for unit in MANY_OF if seconds % unit == 0)
    return MANY_OF[unit](seconds // unit) % {"many": seconds // unit}


def _plainly(cron: Cron) -> str:
    """Every day, every weekday, or one day of each week; empty where it is none of these."""
    simple = CLOCK.fullmatch(cron.fields)
    if not simple:
        return ""
    clock, days = f"{int(simple['hour']):02}:{int(simple['minute']):02}", simple["days"]
    if days == "*":
        return _("every day at %(time)s") % {"time": clock}
    if "-" in days:
        return _("every weekday at %(time)s") % {"time": clock}
    number = int(days) if days.isdigit() else DAYS.index(days)
    day = WEEKDAYS[(number - 1) % 7]
    return _("every %(day)s at %(time)s") % {"day": day, "time": clock}


def _described(cron: Cron, language: str) -> str:
    """In the words of cron-descriptor, or the fields as they are where it knows no words for them."""
    options = Options(locale_code=LOCALES.get(language, "en_US"), use_24hour_time_format=True)
    try:
        words = get_description(cron.fields, options)
    except (FormatError, ValueError):  # it reads fewer forms than CronSim does
        return cron.fields
    return _named(words) if language in LOCALES else words[:1].lower() + words[1:]


def _named(words: str) -> str:
    """With days and months in the reader's language: cron-descriptor leaves them in the process's."""
    names = [*WEEKDAYS.values(), *MONTHS.values()]
    with translation.override("en"):
        english = [str(name) for name in names]
    for given, name in zip(english, names, strict=True):
        words = words.replace(given, str(name))
    return BETWEEN_HAN.sub("", words.replace(", ", ",").replace(",和", "和")).strip()
