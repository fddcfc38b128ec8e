"""Parsing times as various programs write them. Times with a zone are returned in UTC, others without a zone."""

import math
import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from itertools import pairwise

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_YEAR, LAST_YEAR = 1971, 2099  # anything outside is a mistake, or not a time
MAX_TEXT = 60
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SPACES = str.maketrans(
    dict.fromkeys("\u00a0\u2009\u202f\t", " ") | dict.fromkeys("\u200e\u200f\u202a\u202c\ufeff")
)
CLOCK = (
    r"(?P<before>上午|下午)? ?(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r" ?(?P<half>[AaPp]\.? ?[Mm]\.?)? ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?"
)
YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})[-/.年] ?(?P<month>\d{{1,2}})[-/.月] ?(?P<day>\d{{1,2}})日?(?:(?:T| ?, ?| ){CLOCK})?"
)
YEAR_LAST = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[-/.]) ?(?P<other>\d{{1,2}})[-/.] ?(?P<year>\d{{4}}|\d\d)(?:(?: ?, ?| ){CLOCK})?"
)
NAMED = re.compile(
    rf"(?P<name>[A-Za-z]{{3,9}})\.? (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})(?:(?:,| at)? {CLOCK})?"
)
DAY_NAMED = re.compile(
    rf"(?P<day>\d{{1,2}})\.? (?P<name>[A-Za-z]{{3,9}})\.?,? (?P<year>\d{{4}})(?:(?:,| at)? {CLOCK})?"
)
ENDS = (*"0123456789", "m", "M", "m.", "M.", "Z", "C", "T", "s")  # of the forms above, in ASCII
CLOCK_ALONE = re.compile(CLOCK)
# In SillyTavern's and TavernAI's file names: 2023-5-14 @14h 32m 10s 123ms, and 2024-07-12@01h31m37s.
HUMANISED = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2}) ?@ ?(?P<hour>\d{1,2})h ?(?P<minute>\d{1,2})m"
    r" ?(?P<second>\d{1,2})s(?: ?(?P<thousandth>\d{1,3})ms)?"
)


def read_time(value: object) -> datetime | None:
    """Return the time of a JSON value, a number since 1970 or text in one of the forms above; None if it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _read_number(value)
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        return None
    text = value.translate(SPACES).strip()
    try:
        return _read_number(float(text))
    except ValueError:
        return read_date(text, day_first=text[-1:].lower() != "m")  # dates with am or pm have the month first


def _read_number(number: float) -> datetime | None:
    """Return the time that many seconds, milliseconds or microseconds (depending on the size) after 1970-01-01."""
    if not 0 < number < 10**17 or not math.isfinite(number):
        return None
    scale = 1 if number < 10**11 else 10**3 if number < 10**14 else 10**6
    return _within(EPOCH + timedelta(microseconds=round(number * 10**6 / scale)))


@lru_cache(maxsize=4096)  # many lines have the same date, and finding its end parses its parts repeatedly
def read_date(raw: str, *, day_first: bool) -> datetime | None:
    """Return the time of a text, or None if it is not one; `day_first` says whether 1/2/2024 is 1 February."""
    text = raw.translate(SPACES).strip()
    if len(text) > MAX_TEXT:
        return None
    if text[:4].isdigit():
        patterns: tuple[re.Pattern[str], ...] = (YEAR_FIRST, HUMANISED)
    else:
        patterns = (DAY_NAMED,) if text[:1].isdigit() else (NAMED,)
    for pattern in patterns:
        if found := pattern.fullmatch(text):
            parts = found.groupdict()
            month = _read_month(parts["name"]) if "name" in parts else int(parts["month"])
            return _make(int(parts["year"]), month, int(parts["day"]), parts)
    if found := YEAR_LAST.fullmatch(text):
        parts = found.groupdict()
        day, month = int(parts["first"]), int(parts["other"])
        if not day_first:
            day, month = month, day
        year = int(parts["year"])
        return _make(year + 2000 if year < 100 else year, month, day, parts)
    return None


def is_time(text: str) -> bool:
    """Return whether the text is a date or a time of day."""
    if text.isascii() and not text.endswith(ENDS):
        return False  # a cheap check that rules out most texts
    return bool(read_date(text, day_first=True) or read_date(text, day_first=False) or is_clock(text))


def is_clock(text: str) -> bool:
    """Return whether the text is a time of day without a date."""
    return len(text) <= MAX_TEXT and CLOCK_ALONE.fullmatch(text.translate(SPACES).strip()) is not None


def find_order(dates: list[str]) -> bool | None:
    """Return whether dates like 1/2/2024 have the day first (True) or the month first (False); None if it is unclear.

    Return True if there are no such dates.
    """
    found = [match for text in dates if (match := YEAR_LAST.fullmatch(text.translate(SPACES).strip()))]
    pairs = [(int(match["first"]), int(match["other"])) for match in found]
    if any(first > 12 for first, _other in pairs):
        return True
    if any(other > 12 for _first, other in pairs):
        return False
    if not pairs or any(match["mark"] == "." for match in found):
        return True
    if any(text.rstrip()[-1:].lower() == "m" for text in dates):
        return False  # dates with am or pm have the month first
    days = [(match["year"], first, other) for match, (first, other) in zip(found, pairs, strict=True)]
    back_if_month = sum(later < earlier for earlier, later in pairwise(days))
    back_if_day = sum((y2, m2, d2) < (y1, m1, d1) for (y1, d1, m1), (y2, d2, m2) in pairwise(days))
    return None if back_if_day == back_if_month else back_if_day < back_if_month


def _read_month(name: str) -> int:
    return MONTHS.index(name[:3].lower()) + 1 if name[:3].lower() in MONTHS else 0


def _make(year: int, month: int, day: int, parts: dict[str, str | None]) -> datetime | None:
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    half = (parts.get("half") or "")[:1].lower() or {"上午": "a", "下午": "p"}.get(
        parts.get("before") or "", ""
    )
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    part = parts.get("part") or (parts.get("thousandth") or "").rjust(3, "0")
    try:
        moment = datetime(year, month, day, hour, minute, second, int((part + "000000")[:6]))  # noqa: DTZ001
        if zone := parts.get("zone"):
            return _within(moment.replace(tzinfo=_read_zone(zone)).astimezone(UTC))
    except (ValueError, OverflowError):
        return None
    return _within(moment)


def _read_zone(zone: str) -> timezone:
    if not zone.startswith(("+", "-")):
        return UTC
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return timezone(-offset if zone[0] == "-" else offset)


def _within(moment: datetime) -> datetime | None:
    return moment if FIRST_YEAR <= moment.year <= LAST_YEAR else None
