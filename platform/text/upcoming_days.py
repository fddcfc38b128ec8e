"""Days that a text names as still to come, counted from when it was said: "tomorrow", "on Friday", "下周五". Pure."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, timedelta

import regex

from text.dates import HAN, NUMERALS, WEEKDAY, WEEKDAYS, number, read_dates
from text.storable import folded

FEW_WEEKS = timedelta(days=30)
MOST_DAYS = 366
LENGTHS = {"day": 1, "week": 7, "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7}
FEW = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
WEEK = r"(?:周|星期|礼拜)"
# "On Friday" was the last one or is the next one; so a text that tells what was, and nothing of what will be, names none.
WAS = regex.compile(
    r"\b(?:was|were|had|did|went|took|got|met|saw|came|left|gave|made|felt|won|lost|spent|bought|ate|told|said|wrote"
    r"|flew|ran|began|broke|drove|fell|found|heard|held|kept|slept|spoke|stood|taught|thought"
    r"|(?!need|excit|suppos|invit|worri|intend|hundr|married|tired|fred|ahmed|moham|speed|indeed)\w{2,}ed)\b"
    r"|\blast\b|了|过|上个?(?:周|星期|礼拜)"
)
WILL_BE = regex.compile(
    r"\b(?:will|going to|has to|have to|must|needs? to|plans? to|planned|scheduled|booked|arranged|upcoming|next|coming"
    r"|wants? to|about to|supposed to|promised|due)\b|\b(?:i|she|he|they|we|you)'ll\b"
    r"|将|(?<![重主])要|(?<![机聚开约晚宴])会(?!议)|打算|准备|计划|约好|约定|约了|答应|下个?(?:周|星期|礼拜)"
)
# "On 5/2" is the second of May or the fifth of February: nobody is to be wished luck on the wrong one.
SLASHED = regex.compile(r"\bon\s+(\d{1,2})/(\d{1,2})\b(?!/)")

Reader = Callable[["regex.Match[str]", date], Iterator[date]]


def days_ahead(text: str, said_on: date) -> list[date]:
    """The days from `said_on` on that the text names, the nearest first; months and spans are no days.

    A day without a year is the next one, but where it was a few weeks ago, or where the text tells of what was.
    """
    return [day for day in days_told(text, said_on) if day >= said_on]


def days_told(text: str, said_on: date) -> list[date]:
    """The same with those days that were past as it was said, as far as they are written out."""
    text = SLASHED.sub(lambda match: " " if _is_either(*match.groups()) else match.group(), folded(text))
    is_past = bool(WAS.search(text)) and not WILL_BE.search(text)
    terms, rest = read_dates(text, None)
    return sorted({*_written(terms, said_on, is_past), *_counted(rest, said_on, is_past)})


def _is_either(first: str, second: str) -> bool:
    return first != second and int(first) <= 12 and int(second) <= 12


def _written(terms: list[str], said_on: date, is_past: bool) -> Iterator[date]:
    for term in terms:
        numbers = [int(part) for part in term[1:].split("-")]
        if len(numbers) == 3:
            yield date(*numbers)
        elif len(term) == len("@05-02"):
            yield _of_a_year(numbers[0], numbers[1], said_on, is_past)


def _of_a_year(month: int, day: int, said_on: date, is_past: bool) -> date:
    there = in_year(month, day, said_on.year)
    last = there if there <= said_on else in_year(month, day, said_on.year - 1)
    is_last = is_past or said_on - last <= FEW_WEEKS
    return last if is_last else in_year(month, day, last.year + 1)


def in_year(month: int, day: int, year: int) -> date:
    """That day in that year: the 28th of February where there is no 29th."""
    with suppress(ValueError):
        return date(year, month, day)
    return date(year, 2, 28)


def _counted(text: str, said_on: date, is_past: bool) -> Iterator[date]:
    for pattern, reader in READERS if is_past else (*READERS, *TENSED):
        for match in pattern.finditer(text):
            yield from reader(match, said_on)


def _later(days: int) -> Reader:
    def read(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
        yield said_on + timedelta(days)

    return read


def _in(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
    many = match["many"]
    days = (FEW.get(many) or number(many)) * LENGTHS[match["length"]]
    if days <= MOST_DAYS:
        yield said_on + timedelta(days)


def _weekday(weeks: int) -> Reader:
    """That day of the week so many weeks on; with 0 the next one after today, or today where this week is named."""

    def read(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
        name = match["weekday"]
        day = WEEKDAYS.index(name[:3]) if name[:3] in WEEKDAYS else NUMERALS[name] - 1
        if weeks:
            yield said_on + timedelta(7 * weeks - said_on.weekday() + day)
        else:
            least = 0 if match.groupdict().get("this") else 1
            yield said_on + timedelta((day - said_on.weekday() - least) % 7 + least)

    return read


def _of_next_month(match: "regex.Match[str]", said_on: date) -> Iterator[date]:
    first = (said_on.replace(day=1) + timedelta(32)).replace(day=1)
    with suppress(ValueError):
        yield first.replace(day=number(match["day"]))


def _read(*readers: tuple[str, Reader]) -> tuple[tuple["regex.Pattern[str]", Reader], ...]:
    return tuple((regex.compile(pattern), reader) for pattern, reader in readers)


# What is read whatever the tense, and what only where the text does not tell of what was.
READERS = _read(
    (r"(?<!day after )\btomorrow\b|明天|明日|明晚|明早", _later(1)),
    (r"\bday after tomorrow\b|(?<!大)后天", _later(2)),
    (r"大后天", _later(3)),
    (rf"\bin (?P<many>\d{{1,3}}|{'|'.join(FEW)}) (?P<length>day|week)s?\b", _in),
    (rf"(?P<many>{HAN}|两)\s*个?(?P<length>天|日|周|星期|礼拜)(?:之?后|以后|过后)", _in),
    (rf"下个?月\s*(?P<day>{HAN})\s*[日号號]", _of_next_month),
    (rf"下个?{WEEK}(?P<weekday>[一二三四五六日天])", _weekday(1)),
    (rf"\bnext\s+{WEEKDAY}", _weekday(1)),
    (rf"\b{WEEKDAY}\s+next\s+week\b", _weekday(1)),
)
TENSED = _read(
    (r"\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b|今天|今日|今晚", _later(0)),
    (rf"\b(?:on|by|until|(?P<this>this)|coming)\s+{WEEKDAY}(?!\s+next\s+week)", _weekday(0)),
    (rf"(?<![一两每上下\d]|上个|下个)(?P<this>这个?|本)?{WEEK}(?P<weekday>[一二三四五六日天])", _weekday(0)),
)
