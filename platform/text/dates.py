"""Dates that a text names, as terms (`@2023-05-02`, `@05-02`, `@2023-05`) and as days to come; and ages in words. Pure.

The patterns for naming days are data: one file per language in `language`.
"""

import tomllib
from calendar import isleap, monthrange
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import regex

from text.strings import folded

LANGUAGES: list[dict[str, Any]] = [
    tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "language").glob("*.toml"))
]
MONTHS: list[str] = [month for language in LANGUAGES for month in language.get("months", ())]
WEEKDAYS: list[str] = [weekday for language in LANGUAGES for weekday in language.get("weekdays", ())]
WEEKDAY_SIGNS: list[str] = [sign for language in LANGUAGES for sign in language.get("weekday_signs", ())]
NUMERALS: dict[str, int] = {k: n for language in LANGUAGES for k, n in language.get("numerals", {}).items()}
LENGTHS: dict[str, int] = {k: n for language in LANGUAGES for k, n in language.get("lengths", {}).items()}
TELLS_PAST, TELLS_FUTURE = (
    regex.compile("|".join(language[key] for language in LANGUAGES if key in language))
    for key in ("tells_past", "tells_future")
)
YEARS_BACK = 10  # to search for a day without a year
MIN_YEAR = 1000  # terms write years with four digits
TERM = regex.compile(r"@(?:(\d{4})-)?(\d\d)(?:-(\d\d))?")
MAX_DAYS_AGO = 399
MAX_DAYS_ON = 366
NEAR = 60  # characters on either side of a day in which its month is searched for
DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS = 86_400, 3_600, 60
MONTHS_AHEAD = 6  # to search for a day of the month that falls on a given weekday
FEW_WEEKS = timedelta(days=30)

TermReader = Callable[["regex.Match[str]", date | None], Iterator[str]]
DayReader = Callable[["regex.Match[str]", date], Iterator[date]]
YearReader = Callable[["regex.Match[str]", date], Iterator[int]]
Reader = TypeVar("Reader", TermReader, DayReader, YearReader)


def read_dates(text: str, when: datetime | None) -> tuple[list[str], str]:
    """Return the terms of the dates that `text` (NFKC, case folded) names, and the text without them.

    Words such as "yesterday" are relative to `when`, in the speaker's time zone; without it they stay in the text.
    """
    found: list[str] = []
    today = when.date() if when else None
    for pattern, read in NAMED:

        def take(match: "regex.Match[str]", read: TermReader = read) -> str:
            terms = list(read(match, today))
            found.extend(terms)
            return " " if terms else match.group()

        text = pattern.sub(take, text)
    return found, text


def find_spans(text: str, when: datetime) -> list[tuple[date, date]]:
    """Return the spans (first day, last day) that `text` names; "yesterday" and the like only if no date is written.

    A month or day without a year is in the years that are named beside it ("in June last year"). Without any month or
    day, the years themselves are the spans.
    """
    text, today = folded(text), when.date()
    written, _ = read_dates(text, None)
    named = written or read_dates(text, when)[0]
    found = {
        year for pattern, read in YEARS for match in pattern.finditer(text) for year in read(match, today)
    }
    years = sorted(year for year in found if year >= MIN_YEAR)
    if not named:
        return [(date(year, 1, 1), date(year, 12, 31)) for year in years]
    if years:
        named = [
            dated
            for term in dict.fromkeys(named)
            for dated in _put_in_years(term, years, is_written=bool(written))
        ]
    return [span for term in dict.fromkeys(named) for span in _read_spans(term, today)]


def split_term(term: str) -> tuple[int, int, int]:
    """Return the year, month and day of a term; 0 for the year of `@05-02` and for the day of `@2023-05`."""
    year, month, day = TERM.fullmatch(term).groups(default=0)  # type: ignore[union-attr]
    return int(year), int(month), int(day)


def _put_in_years(term: str, years: list[int], *, is_written: bool) -> list[str]:
    """Return the term of a month or day in each of the years, unless it has a year of its own."""
    its_year, month, day = split_term(term)
    if not its_year:
        return [f"@{year}-{term[1:]}" for year in years if (month, day) != (2, 29) or isleap(year)]
    return [term] if day or is_written else [f"@{year}-{month:02}" for year in years]


def _read_spans(term: str, today: date) -> Iterator[tuple[date, date]]:
    year, month, day = split_term(term)
    if not day:
        yield date(year, month, 1), date(year, month, monthrange(year, month)[1])
        return
    for its_year in [year] if year else range(today.year - YEARS_BACK, today.year + 1):
        with suppress(ValueError):  # the 29th of February
            yield (on := date(its_year, month, day)), on


def find_days_ahead(text: str, said_on: date) -> list[date]:
    """Return the days on or after `said_on` that the text names, nearest first, without whole months and spans.

    A day without a year is its next occurrence, unless its last one was within FEW_WEEKS or the text is about the past.
    """
    return [day for day in find_days(text, said_on) if day >= said_on]


def find_days(text: str, said_on: date) -> list[date]:
    """Return the days that the text names, as `find_days_ahead` does, and also the past ones that are written as dates.

    Ambiguous dates are ignored: "on 5/2" may be 2 May or 5 February, and a wish of luck must not come on the wrong one.
    A weekday that belongs to a written date ("on Saturday 16 May") is no day of its own.
    """
    text = SLASHED.sub(lambda match: " " if _has_two_readings(match) else match.group(), folded(text))
    is_past = tells_past(text)
    without_weekdays = text
    for pattern in NEXT_WEEKDAY:
        without_weekdays = pattern.sub(" ", without_weekdays)
    written = set(_days_of(read_dates(without_weekdays, None)[0], said_on, is_past))
    weekdays, found = {day.weekday() for day in written}, set(written)
    rest = read_dates(text, None)[1]
    for pattern, read in UPCOMING if is_past else (*UPCOMING, *PRESENT):
        for match in pattern.finditer(rest):
            days = set(read(match, said_on))
            if read is _read_next_weekday and not match["this"]:
                days = {day for day in days if day.weekday() not in weekdays}
            found |= days
    return sorted(found)


def find_relative_days(text: str, said_at: datetime) -> set[date]:
    """Return the days that the text names by the one on which it was said ("yesterday", "next Friday"), if it names none
    by a date.
    """
    plain = folded(text)
    if read_dates(plain, None)[0]:
        return set()
    spans = find_spans(text, said_at)
    return {first for first, last in spans if first == last} | set(find_days_ahead(text, said_at.date()))


def tells_past(text: str) -> bool:
    """Return whether the text is about the past, and not about the future as well."""
    return bool(TELLS_PAST.search(folded(text))) and not tells_future(text)


def tells_future(text: str) -> bool:
    """Return whether the text has a word that is said of what is still to come, such as "will"."""
    return bool(TELLS_FUTURE.search(folded(text)))


def _has_two_readings(match: "regex.Match[str]") -> bool:
    first, second = match["first"], match["second"]
    return first != second and int(first) <= 12 and int(second) <= 12


def _days_of(terms: list[str], said_on: date, is_past: bool) -> Iterator[date]:
    for term in terms:
        year, month, day = split_term(term)
        if year and day:
            yield date(year, month, day)
        elif day:
            there = in_year(month, day, said_on.year)
            last = there if there <= said_on else in_year(month, day, said_on.year - 1)
            is_last = is_past or said_on - last <= FEW_WEEKS
            yield last if is_last else in_year(month, day, last.year + 1)


def in_year(month: int, day: int, year: int) -> date:
    """Return the date, with 28 February instead of a 29 February that the year does not have."""
    with suppress(ValueError):
        return date(year, month, day)
    return date(year, 2, 28)


def render_day(day: date) -> str:
    """Return the day with its weekday, e.g. "Tue 2026-05-05", so that a reader can tell which day "on Friday" means."""
    return f"{day:%a %Y-%m-%d}"


def name_day(day: date, today: date | None) -> str:
    """Return the day in few tokens, e.g. "Tue 5 May"; with its year, "Tue 5 May 2025", unless that is today's."""
    year = "" if today and day.year == today.year else f" {day.year}"
    return f"{day:%a} {day.day} {day:%b}{year}"


def name_whole_day(day: date, today: date) -> str:
    """Return the day written out, e.g. "Tuesday 05 May"; with its year, unless that is today's."""
    return f"{day:%A %d %B}" if day.year == today.year else f"{day:%A %d %B %Y}"


def render_age(at: datetime, now: datetime) -> str:
    """Return in words how long `at` is before `now`, in the largest unit that fits: "2 days ago", "just now".

    From 24 hours on, days are counted by the calendar, as people count them: both times must be in the user's zone.
    """
    seconds = int((now - at).total_seconds())
    if seconds >= DAY_SECONDS:
        amount, unit = (now.date() - at.date()).days, "day"
    elif seconds >= HOUR_SECONDS:
        amount, unit = seconds // HOUR_SECONDS, "hour"
    else:
        amount, unit = seconds // MINUTE_SECONDS, "minute"
    return f"{amount} {unit}{'s' if amount > 1 else ''} ago" if amount > 0 else "just now"


def read_number(text: str) -> int:
    """Return the value of a numeral such as "12", "seven" or "十二" (Chinese ones up to 99)."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (NUMERALS.get(tens, 1) * 10 if ten else 0) + NUMERALS.get(ones, 0)


def _read_month_number(name: str) -> int:
    return MONTHS.index(name[:3]) + 1 if name[:3] in MONTHS else read_number(name)


def _read_weekday_number(name: str) -> int:
    """Return the day of the week, from 0 for Monday."""
    return WEEKDAYS.index(name[:3]) if name[:3] in WEEKDAYS else NUMERALS[name] - 1


# -- readers that turn a pattern's match into terms


def _calendar_day(year: int | None, month: int, day: int) -> Iterator[str]:
    with suppress(ValueError):
        real = date(year or 2000, month, day)  # 2000 has a 29th of February
        yield f"@{real}" if year else f"@{real:%m-%d}"


def _read_day(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    year = int(match["year"]) if match["year"] else None
    yield from _calendar_day(year, _read_month_number(match["month"]), read_number(match["day"]))


def _read_slashed(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    """Yield both readings of a date such as "on 5/2", which is ambiguous."""
    first, second = int(match["first"]), int(match["second"])
    yield from dict.fromkeys([*_calendar_day(None, first, second), *_calendar_day(None, second, first)])


def _read_month(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    """Yield the named month of the named year, or its latest occurrence if no year is named."""
    month = _read_month_number(match["month"])
    year = int(match["year"]) if match["year"] else (today.year - (month > today.month) if today else 0)
    if year and 1 <= month <= 12:
        yield f"@{year:04}-{month:02}"


def _read_days_ago(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    days = read_number(match["days"])
    if today and days <= MAX_DAYS_AGO:
        yield f"@{today - timedelta(days)}"


def _days_back(days: int) -> TermReader:
    def read(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
        if today:
            yield f"@{today - timedelta(days)}"

    return read


def _read_last_weekday(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    """Yield the latest such weekday before today; if the text says "this", that of today's week, unless it is to come."""
    if today:
        days = (today.weekday() - _read_weekday_number(match["weekday"]) - 1) % 7 + 1
        if not match.groupdict().get("this") or (days := days % 7) <= today.weekday():
            yield f"@{today - timedelta(days)}"


def _read_weekday_of_last_week(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    """Yield that day of the week before today's, or of the one before that ("上上周五")."""
    if today:
        monday = today - timedelta(today.weekday() + (14 if match["more"] else 7))
        yield f"@{monday + timedelta(_read_weekday_number(match['weekday']))}"


def _read_last_week(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    if today:
        monday = today - timedelta(today.weekday() + (14 if match.groupdict().get("more") else 7))
        yield from (f"@{monday + timedelta(n)}" for n in range(7))


def _read_last_month(match: "regex.Match[str]", today: date | None) -> Iterator[str]:
    if today:
        last = today.replace(day=1) - timedelta(1)
        yield f"@{last.year:04}-{last.month:02}"


# -- readers that turn a pattern's match into years


def _read_year(match: "regex.Match[str]", today: date) -> Iterator[int]:
    yield int(match["year"])


def _years_back(years: int) -> YearReader:
    def read(match: "regex.Match[str]", today: date) -> Iterator[int]:
        yield today.year - years

    return read


def _read_years_ago(match: "regex.Match[str]", today: date) -> Iterator[int]:
    yield today.year - read_number(match["years"])


# -- readers that turn a pattern's match into days to come


def _days_later(days: int) -> DayReader:
    def read(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
        yield said_on + timedelta(days)

    return read


def _read_days_on(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
    days = read_number(match["many"]) * LENGTHS[match["length"]]
    if days <= MAX_DAYS_ON:
        yield said_on + timedelta(days)


def _read_weekday_of_next_week(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
    weeks = 2 if match.groupdict().get("more") else 1  # "下下周三"
    yield said_on + timedelta(7 * weeks - said_on.weekday() + _read_weekday_number(match["weekday"]))


def _read_next_weekday(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
    """Yield the next such weekday after `said_on`, or from `said_on` on if the text says "this"."""
    least = 0 if match["this"] else 1
    days = (_read_weekday_number(match["weekday"]) - said_on.weekday() - least) % 7 + least
    yield said_on + timedelta(days)


def _read_day_of_next_month(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
    first = (said_on.replace(day=1) + timedelta(32)).replace(day=1)
    with suppress(ValueError):
        yield first.replace(day=read_number(match["day"]))


def _read_day_of_month(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
    """Yield the next day with that number and named weekday, if any; nothing if a month is named nearby."""
    if OTHER_MONTH.search(match.string, max(match.start() - NEAR, 0), match.end() + NEAR):
        return
    named = match.groupdict().get("weekday")
    first = said_on.replace(day=1)
    for _ in range(MONTHS_AHEAD if named else 2):
        with suppress(ValueError):  # a month without such a day
            day = first.replace(day=read_number(match["day"]))
            if day >= said_on and (not named or day.weekday() == _read_weekday_number(named)):
                yield day
                return
        first = (first + timedelta(32)).replace(day=1)


def _compile(table: str, readers: Mapping[str, Reader]) -> list[tuple["regex.Pattern[str]", Reader]]:
    """Return all languages' patterns from `table`, each with the reader of its matches, in the order of `readers`."""
    parts = {name: part for language in LANGUAGES for name, part in language["parts"].items()}
    compiled = []
    for name, reader in readers.items():
        for language in LANGUAGES:
            for pattern in language.get(table, {}).get(name, ()):
                for part, text in parts.items():
                    pattern = pattern.replace(f"{{{part}}}", text)
                compiled.append((regex.compile(pattern), reader))
    return compiled


OTHER_MONTH = regex.compile(
    "|".join(
        language["present"]["other_month"].replace("{month}", language["parts"].get("month", ""))
        for language in LANGUAGES
        if "other_month" in language.get("present", ())
    ).replace("(?P<month>", "(?:")
)
NAMED = _compile(
    "named",
    {
        "numbers": _read_day,
        "names": _read_day,
        "slashed": _read_slashed,
        "month": _read_month,
        "days_ago": _read_days_ago,
        "day_before_yesterday": _days_back(2),
        "yesterday": _days_back(1),
        "today": _days_back(0),
        "weekday_of_last_week": _read_weekday_of_last_week,
        "weekday": _read_last_weekday,
        "last_week": _read_last_week,
        "last_month": _read_last_month,
    },
)
SLASHED = next(pattern for pattern, read in NAMED if read is _read_slashed)
YEARS = _compile(
    "years",
    {
        "year": _read_year,
        "last_year": _years_back(1),
        "year_before_last": _years_back(2),
        "years_ago": _read_years_ago,
    },
)
UPCOMING = _compile(
    "upcoming",
    {
        "tomorrow": _days_later(1),
        "day_after_tomorrow": _days_later(2),
        "three_days_on": _days_later(3),
        "days_on": _read_days_on,
        "day_of_next_month": _read_day_of_next_month,
        "weekday_of_next_week": _read_weekday_of_next_week,
    },
)
PRESENT = _compile(
    "present",
    {"today": _days_later(0), "next_weekday": _read_next_weekday, "day_of_month": _read_day_of_month},
)
NEXT_WEEKDAY = [pattern for pattern, read in PRESENT if read is _read_next_weekday]
