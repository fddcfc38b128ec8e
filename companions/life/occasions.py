"""What may move a companion to wake by itself, told by rows: promises, what is near, birthdays, silence, ideas, goals."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

import regex
from django.utils.translation import gettext

from companions.life.eligibility import Outreach
from companions.models import Waking
from memory.models import Memory, Pursuit
from text.sentences import split_sentences
from text.shorten import shorten
from text.upcoming_days import days_ahead, days_told, in_year

QUOTED_CHARACTERS = 300  # of a memory in a note
ANY_DAY = 2  # how far off what has no day is: after what is today or tomorrow
SILENCE_DAYS = (21, 7, 3)
SILENCE_WEIGHT = 6
BIRTHDAY_WEIGHT = 20
FEARED_WEIGHT = 10  # more than its importance, where it is one of those that people tremble for
MIN_EXCITEMENT = 8  # of an idea that it likes
UNSEEN_FOR = timedelta(days=7)
STILL_FOR = timedelta(days=14)
NO_SOLAR_BIRTHDAY = regex.compile(r"(?i)农历|農曆|阴历|陰曆|\blunar\b")  # the day is another one each year
# As the database and Python both read them.
BIRTHDAY_WORDS = r"birthday|was born|were born|生日|出生|生于|诞辰"
FEARED_WORDS = (
    r"exam|interview|surgery|operation|wedding|funeral|trip|flight|travel|journey|concert|deadline|audition"
    r"|appointment|dentist|doctor|moving|defen[cs]e|presentation|marathon|competition|first day"
    r"|考试|面试|手术|婚礼|葬礼|旅行|旅游|出差|航班|飞往|演出|音乐会|截止|复查|看医生|牙医|搬家|答辩|演讲|比赛|马拉松"
    r"|入职|开学|高考|体检"
)
_BIRTHDAY = regex.compile(BIRTHDAY_WORDS, regex.IGNORECASE)
_FEARED = regex.compile(FEARED_WORDS, regex.IGNORECASE)
Drive = Waking.Drive


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """One occasion to wake: its key, which no other of the companion has, how many days off and how weighty it is."""

    drive: Drive
    key: str
    about: Memory | None = None
    days: int = ANY_DAY
    weight: int
    silent_days: int = 0

    @property
    def order(self) -> tuple[int, int, str]:
        """The nearest first, of those the weightiest."""
        return self.days, -self.weight, self.key

    def write_note(self) -> str:
        """Return why it matters, in one sentence of the language that is switched on, the memory quoted."""
        memory = shorten(" ".join(self.about.text.split()), QUOTED_CHARACTERS) if self.about else ""
        return self._get_sentence() % {"days": self.silent_days, "memory": memory}

    def _get_sentence(self) -> str:
        match self.drive:
            case Drive.PROMISE if self.days < 0:
                return gettext("This was promised for yesterday, and it counts: “%(memory)s”")
            case Drive.PROMISE:
                return gettext("This was promised for today, and it counts: “%(memory)s”")
            case Drive.EVENT if self.days:
                return gettext("This is tomorrow, and it matters: “%(memory)s”")
            case Drive.EVENT:
                return gettext("This is today, and it matters: “%(memory)s”")
            case Drive.BIRTHDAY:
                return gettext("Today is the birthday of which this tells: “%(memory)s”")
            case Drive.LONG_SILENCE:
                return gettext(
                    "There has been silence between the two for %(days)d days, and they are missed."
                )
            case Drive.IDEA:
                return gettext("This idea is a joy, and nobody has looked at it for a while: “%(memory)s”")
        return gettext("This goal is under way, and has stood still for two weeks: “%(memory)s”")


def find_due_memories(memories: Iterable[Memory], today: date, zone: tzinfo) -> Iterator[Occasion]:
    """Yield promises that are due today or were yesterday, and what is today or tomorrow."""
    for memory in memories:
        is_promise = memory.kind == Memory.Kind.PROMISE
        drive = Drive.PROMISE if is_promise else Drive.EVENT
        weight = memory.importance + (FEARED_WEIGHT if _FEARED.search(memory.text) else 0)
        for day in _get_days(memory, zone):
            days = (day - today).days
            if days in ((-1, 0) if is_promise else (0, 1)):
                key = f"{drive}:{memory.pk}:{day.isoformat()}"
                yield Occasion(drive=drive, key=key, about=memory, days=days, weight=weight)


def _get_days(memory: Memory, zone: tzinfo) -> list[date]:
    """Return the day on which it happens, where that was still to come when it was told, else the days that it names."""
    happens_on = memory.happened_at.astimezone(zone).date()
    if happens_on > memory.learnt_at.astimezone(zone).date():
        return [happens_on]
    return days_ahead(memory.text, happens_on)


def find_birthdays(memories: Iterable[Memory], today: date, zone: tzinfo) -> Iterator[Occasion]:
    """Yield the birthdays that are today, by the calendar that Kith knows."""
    for memory in memories:
        said_on = memory.happened_at.astimezone(zone).date()
        days = [
            day
            for sentence in split_sentences(memory.text)
            if _BIRTHDAY.search(sentence) and not NO_SOLAR_BIRTHDAY.search(sentence)
            for day in days_told(sentence, said_on)
        ]
        if any(in_year(day.month, day.day, today.year) == today for day in days):
            key = f"{Drive.BIRTHDAY}:{memory.pk}:{today.year}"
            weight = BIRTHDAY_WEIGHT + memory.importance
            yield Occasion(drive=Drive.BIRTHDAY, key=key, about=memory, days=0, weight=weight)


def find_silence(outreach: Outreach, now: datetime) -> Iterator[Occasion]:
    """Yield a silence of 3, 7 or 21 days, unless all that was ever said unprompted went unanswered."""
    if outreach.said_at is None:
        return
    if outreach.unprompted and len(outreach.unanswered) == len(outreach.unprompted):
        return
    silent = (now - outreach.said_at).days
    reached = next((days for days in SILENCE_DAYS if silent >= days), None)
    if reached:
        key = f"{Drive.LONG_SILENCE}:{outreach.said_at.isoformat()}:{reached}"
        yield Occasion(drive=Drive.LONG_SILENCE, key=key, weight=SILENCE_WEIGHT, silent_days=silent)


def find_resting_goals(goals: Iterable[Pursuit], now: datetime) -> Iterator[Occasion]:
    """Yield ideas that it likes and nobody has looked at lately, and goals under way that do not move.

    There is one for each time that it has come to rest.
    """
    for goal in goals:
        memory = goal.memory
        if memory.kind == Memory.Kind.IDEA:
            drive, weight = Drive.IDEA, goal.excitement
            since, is_resting = goal.reviewed_at or memory.learnt_at, goal.excitement >= MIN_EXCITEMENT
        else:
            drive, weight = Drive.GOAL, memory.importance
            since, is_resting = goal.moved_at or memory.learnt_at, goal.status == Pursuit.Status.UNDER_WAY
        if is_resting and now - since >= (UNSEEN_FOR if drive == Drive.IDEA else STILL_FOR):
            key = f"{drive}:{memory.pk}:{since:%Y-%m-%dT%H:%M}"
            yield Occasion(drive=drive, key=key, about=memory, weight=weight)
