"""Dates that a text names, and dates of what was said, as terms: `@2023-05-02`, `@05-02`, `@2023-05`."""

from calendar import monthrange
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta

import regex

from text.storable import folded

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NUMERALS = {
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "日": 7,
    "天": 7,
}

MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
WEEKDAY = r"(?P<weekday>mon|tues?|wednes|thurs?|fri|satur|sun)day\b"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?!\s*(?:%|km\b|am\b|pm\b|:\d))"
YEAR = r"(?P<year>(?:19|20)\d\d)"
HAN = r"[一二三四五六七八九十\d]{1,3}"

YEARS_BACK = 10

Reader = Callable[["regex.Match[str]", date | None], Iterator[str]]


def read_dates(text: str, when: datetime | None) -> tuple[list[str], str]:
    """Terms of the dates that `text` (NFKC, case folded) names, and the text without them.

    Words such as "yesterday" count from `when`, in the speaker's own zone; without it they stay words.
    """
    found: list[str] = []
    today = when.date() if when else None
    for pattern, reader in READERS:

        def take(match: "regex.Match[str]", reader: Reader = reader) -> str:
            terms = list(reader(match, today))
            found.extend(terms)
            return " " if terms else match.group()

        text = pattern.sub(take, text)
    return found, text


def days_named(text: str, when: datetime) -> list[tuple[date, date]]:
    """The stretches, first and last day, that `text` names; words such as "yesterday" only where no date is written."""
    text = folded(text)
    written, _ = read_dates(text, None)
    named = written or read_dates(text, when)[0]
    return [stretch for term in dict.fromkeys(named) for stretch in _stretches(term, when.date())]


def _stretches(term: str, today: date) -> Iterator[tuple[date, date]]:
    numbers = [int(part) for part in term[1:].split("-")]
    if len(numbers) == 3:
        yield (day := date(*numbers)), day
    elif len(term) == len("@2023-05"):
        year, month = numbers
        yield date(year, month, 1), date(year, month, monthrange(year, month)[1])
    else:  # a day of any year: the last ones
        for year in range(today.year - YEARS_BACK, today.year + 1):
            with suppress(ValueError):  # the 29th of February
                yield (day := date(year, *numbers)), day


def number(text: str) -> int:
    """The value of "12" or "十二"; the numerals up to 99."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (NUMERALS.get(tens, 1) * 10 if ten else 0) + NUMERALS.get(ones, 0)


def _calendar_day(year: int | None, month: int, day: int) -> Iterator[str]:
    try:
        real = date(year or 2000, month, day)  # 2000 has a 29th of February
    except ValueError:
        return
    yield f"@{real:%Y-%m-%d}" if year else f"@{real:%m-%d}"


def _numbers(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    year = match["year"]
    yield from _calendar_day(int(year) if year else None, number(match["month"]), number(match["day"]))


def _named(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    month = MONTHS.index(match["month"][:3]) + 1
    yield from _calendar_day(int(match["year"]) if match["year"] else None, month, int(match["day"]))


def _slashed(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    """Both readings of "on 5/2": nobody can tell which is meant."""
    first, second = int(match["first"]), int(match["second"])
    yield from dict.fromkeys([*_calendar_day(None, first, second), *_calendar_day(None, second, first)])


def _month(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    """A month with its year, or the latest such month."""
    name = match["month"]
    month = MONTHS.index(name[:3]) + 1 if name[:3] in MONTHS else number(name)
    year = int(match["year"]) if match["year"] else (today.year - (month > today.month) if today else 0)
    if year and 1 <= month <= 12:
        yield f"@{year:04}-{month:02}"


def _ago(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    days = number(match["days"])
    if today and days < 400:
        yield f"@{today - timedelta(days):%Y-%m-%d}"


def _back(days: int) -> Reader:
    def read(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
        if today:
            yield f"@{today - timedelta(days):%Y-%m-%d}"

    return read


def _weekday(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    """The latest such day before today."""
    name = match["weekday"]
    place = WEEKDAYS.index(name[:3]) if name[:3] in WEEKDAYS else NUMERALS[name] - 1
    if today:
        yield f"@{today - timedelta((today.weekday() - place - 1) % 7 + 1):%Y-%m-%d}"


def _last_week(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    if today:
        monday = today - timedelta(today.weekday() + 7)
        yield from (f"@{monday + timedelta(n):%Y-%m-%d}" for n in range(7))


def _last_month(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    if today:
        yield f"@{today.replace(day=1) - timedelta(1):%Y-%m}"


READERS: tuple[tuple["regex.Pattern[str]", Reader], ...] = tuple(
    (regex.compile(pattern), reader)
    for pattern, reader in (
        (rf"\b{YEAR}(?P<gap>[-/.])(?P<month>\d{{1,2}})(?P=gap)(?P<day>\d{{1,2}})\b", _numbers),
        (rf"(?:{YEAR}\s*年\s*)?(?P<month>{HAN})\s*月\s*(?P<day>{HAN})\s*[日号號]", _numbers),
        (rf"\b{MONTH}\s+(?:the\s+)?{DAY}(?:,?\s+{YEAR}\b)?", _named),
        (rf"\b{DAY}\s+(?:of\s+)?{MONTH}(?:,?\s+{YEAR}\b)?", _named),
        (r"\bon\s+(?P<first>\d{1,2})/(?P<second>\d{1,2})\b(?!/)", _slashed),
        (
            rf"\b(?:(?:in|during|since|early|late|last)\s+{MONTH}|{MONTH}(?=,?\s+{YEAR}))(?:,?\s+{YEAR}\b)?",
            _month,
        ),
        (rf"(?:{YEAR}\s*年\s*)?(?P<month>{HAN})\s*月份?", _month),
        (r"\b(?P<days>\d{1,3})\s+days\s+ago\b", _ago),
        (r"(?P<days>[一二两三四五六七八九十\d]{1,3})\s*天(?:以?前|之前)", _ago),
        (r"\bday\s+before\s+yesterday\b|(?<!大)前天|一昨日", _back(2)),
        (r"\byesterday\b|\blast\s+night\b|昨天|昨日|昨晚", _back(1)),
        (r"\btoday\b|\btonight\b|今天|今日|今晚", _back(0)),
        (rf"\b(?:on|last)\s+{WEEKDAY}", _weekday),
        (r"(?<![一两每\d])(?:上个?)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _weekday),
        (r"\blast\s+week\b|上个?(?:周|星期|礼拜)", _last_week),
        (r"\blast\s+month\b|上个?月", _last_month),
    )
)
