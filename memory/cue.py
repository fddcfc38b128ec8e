"""Reading a cue: what it says, whom it means, which days it names, and what kind of answer it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

import regex

from memory.dates import days_named
from memory.small_talk import names_in
from memory.speakers import meant
from memory.terms import is_question, terms
from memory.text import ends

MOST_CUE_TERMS = 64  # of a pasted page the first and the last: often a question stands at its end
SHORTEST_NAME = 2

ASKS_WHEN = regex.compile(
    r"(?i)\b(?:when|how\s+long|(?:what|which)\s+(?:date|day|month|year|time|season))\b|什么时候|何时|哪[天年月]|几[点号月]|多久"
)
ASKS_HOW_MANY = regex.compile(
    r"(?i)\bhow\s+(?:many|much|long|old|often|far|tall|big)\b|多少|多[大久长远高]|几[个次天岁年本只位]"
)

Names = Mapping[str, str]
NOBODY: Names = {}


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue as it was understood.

    `terms` without repetitions and without the names of the two who talk; `speaker` is whom it means ("user",
    "companion" or ""); `days` are the stretches that it names, each from the second at which its first day begins to
    that at which its last one ends, in the user's zone, counted from 1970; `names` are terms with a capital of their own.
    `asked_at` is when it is asked, in that zone.
    """

    terms: list[str]
    speaker: str
    days: list[tuple[float, float]]
    asks_when: bool
    asks_how_many: bool
    is_question: bool
    names: frozenset[str]
    asked_at: datetime

    @property
    def past_days(self) -> list[tuple[float, float]]:
        """Return those of the days that it names which are over."""
        today = datetime.combine(self.asked_at.date(), time(), self.asked_at.tzinfo).timestamp()
        return [(begins, ends) for begins, ends in self.days if ends <= today]


def read(cue: str, when: datetime, names: Names) -> Cue:
    """The cue, asked at `when` in the user's zone; `names` are what "user" and "companion" are called."""
    bare = without_names(cue, names)
    return Cue(
        terms=ends(list(dict.fromkeys(terms(bare, when))), MOST_CUE_TERMS),
        speaker=meant(cue) or _named(cue, names),
        days=[_seconds(first, last, when) for first, last in days_named(cue, when)],
        asks_when=bool(ASKS_WHEN.search(cue)),
        asks_how_many=bool(ASKS_HOW_MANY.search(cue)),
        names=names_in(bare),
        is_question=is_question(cue) or bool(ASKS_WHEN.search(cue)),
        asked_at=when,
    )


def _seconds(first: date, last: date, when: datetime) -> tuple[float, float]:
    begins = datetime.combine(first, time(), when.tzinfo)
    ends = datetime.combine(last, time(), when.tzinfo) + timedelta(days=1)
    return begins.timestamp(), ends.timestamp()


def without_names(cue: str, names: Names) -> str:
    """The cue without the names of the two who talk, unless nothing else is left.

    Whose words are wanted is known from them; in a vector they would only draw whatever names somebody.
    """
    bare = cue
    for name in names.values():
        if len(name) >= SHORTEST_NAME:
            bare = _pattern(name).sub(" ", bare)
    bare = " ".join(bare.split())
    return bare if any(character.isalnum() for character in bare) else cue


def _named(cue: str, names: Names) -> str:
    """The one of the two whom the cue names; "" where it names both, or none."""
    named = [who for who, name in names.items() if len(name) >= SHORTEST_NAME and _pattern(name).search(cue)]
    return named[0] if len(named) == 1 else ""


def _pattern(name: str) -> "regex.Pattern[str]":
    return regex.compile(rf"(?<!\p{{Latin}}){regex.escape(name)}(?:['’]s)?(?!\p{{Latin}})")
