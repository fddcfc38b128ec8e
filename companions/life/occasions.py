"""Occasions that rows tell of: what was promised, what is near, birthdays, silence, ideas and goals. Pure."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta, tzinfo

import regex

from companions.life.consent import Past
from companions.life.drive import Drive, Occasion
from memory.days_ahead import days_ahead, days_told, in_year
from memory.models import Memory, Pursuit

SILENCES = (21, 7, 3)  # days
SILENCE_WEIGHT = 6
BIRTHDAY_WEIGHT = 20
MATTERS = 10  # more than its importance, where it is one of those that people tremble for
LIKED = 8  # of an idea's excitement
UNSEEN = timedelta(days=7)
STILL = timedelta(days=14)
NO_BIRTHDAYS = regex.compile(r"(?i)农历|農曆|阴历|陰曆|\blunar\b")  # the day is another one each year
SENTENCE = regex.compile(r"(?<=[.!?])\s+|[。！？\n]+")
# As the database and Python both read them.
BIRTHDAYS = r"birthday|was born|were born|生日|出生|生于|诞辰"
TREMBLED_FOR = (
    r"exam|interview|surgery|operation|wedding|funeral|trip|flight|travel|journey|concert|deadline|audition"
    r"|appointment|dentist|doctor|moving|defen[cs]e|presentation|marathon|competition|first day"
    r"|考试|面试|手术|婚礼|葬礼|旅行|旅游|出差|航班|飞往|演出|音乐会|截止|复查|看医生|牙医|搬家|答辩|演讲|比赛|马拉松"
    r"|入职|开学|高考|体检"
)
_BIRTHDAYS = regex.compile(BIRTHDAYS, regex.IGNORECASE)
_TREMBLED_FOR = regex.compile(TREMBLED_FOR, regex.IGNORECASE)


def of_memories(memories: Iterable[Memory], today: date, zone: tzinfo) -> Iterator[Occasion]:
    """Promises that are due today or were yesterday, and what is today or tomorrow."""
    for memory in memories:
        is_promise = memory.kind == Memory.Kind.PROMISE
        drive = Drive.PROMISE if is_promise else Drive.EVENT
        for day in _days(memory, zone):
            days = (day - today).days
            if days in ((-1, 0) if is_promise else (0, 1)):
                key = f"{drive}:{memory.pk}:{day.isoformat()}"
                yield Occasion(drive=drive, key=key, about=memory, days=days, weight=_weight(memory))


def _days(memory: Memory, zone: tzinfo) -> list[date]:
    """The days that it names; that on which it happens, where it is told as still to come."""
    happens_on = memory.happened_at.astimezone(zone).date()
    if happens_on > memory.learnt_at.astimezone(zone).date():
        return [happens_on]
    return days_ahead(memory.text, happens_on)


def _weight(memory: Memory) -> int:
    return memory.importance + (MATTERS if _TREMBLED_FOR.search(memory.text) else 0)


def of_birthdays(memories: Iterable[Memory], today: date, zone: tzinfo) -> Iterator[Occasion]:
    """The birthdays that are today."""
    for memory in memories:
        said_on = memory.happened_at.astimezone(zone).date()
        days = [day for part in _sentences(memory.text) for day in days_told(part, said_on)]
        if any(in_year(day.month, day.day, today.year) == today for day in days):
            key = f"{Drive.BIRTHDAY}:{memory.pk}:{today.year}"
            weight = BIRTHDAY_WEIGHT + memory.importance
            yield Occasion(drive=Drive.BIRTHDAY, key=key, about=memory, days=0, weight=weight)


def _sentences(text: str) -> Iterator[str]:
    """Those that tell of a birthday by the calendar that Kith knows."""
    parts = SENTENCE.split(text)
    return (one for one in parts if _BIRTHDAYS.search(one) and not NO_BIRTHDAYS.search(one))


def of_silence(before: Past, now: datetime) -> Iterator[Occasion]:
    """A silence of 3, 7 or 21 days, unless they have let all that was ever said unprompted go unanswered."""
    if before.said_at is None or (before.unprompted and not _has_answered(before)):
        return
    silent = (now - before.said_at).days
    reached = next((days for days in SILENCES if silent >= days), None)
    if reached:
        key = f"{Drive.LONG_SILENCE}:{before.said_at.isoformat()}:{reached}"
        yield Occasion(drive=Drive.LONG_SILENCE, key=key, weight=SILENCE_WEIGHT, silent=silent)


def _has_answered(before: Past) -> bool:
    return len(before.unanswered) < len(before.unprompted)


def of_pursuits(pursuits: Iterable[Pursuit], now: datetime) -> Iterator[Occasion]:
    """Ideas that it likes and nobody has looked at lately, and goals under way that do not move."""
    for one in pursuits:
        memory = one.memory
        if memory.kind == Memory.Kind.IDEA and one.excitement >= LIKED:
            seen_at = one.reviewed_at or memory.learnt_at
            if now - seen_at >= UNSEEN:
                yield _of_pursuit(Drive.IDEA, memory, seen_at, one.excitement)
        if memory.kind == Memory.Kind.GOAL and one.status == Pursuit.Status.UNDER_WAY:
            moved_at = one.moved_at or memory.learnt_at
            if now - moved_at >= STILL:
                yield _of_pursuit(Drive.GOAL, memory, moved_at, memory.importance)


def _of_pursuit(drive: Drive, memory: Memory, since: datetime, weight: int) -> Occasion:
    """One for each time that it has come to rest."""
    key = f"{drive}:{memory.pk}:{since:%Y-%m-%dT%H:%M}"
    return Occasion(drive=drive, key=key, about=memory, weight=weight)
