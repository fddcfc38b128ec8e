"""Reading a cue: what it says, whom it means, which days it names, and what kind of answer it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache

import regex

from memory.models import Memory
from memory.recall.small_talk import NAME, names_in, tells_something, words_of
from memory.recall.terms import is_question, terms
from text.dates import days_named
from text.storable import ends

MOST_CUE_TERMS = 64  # of a pasted page the first and the last: often a question stands at its end
SHORTEST_NAME = 2

ASKS_WHEN = regex.compile(
    r"(?i)\b(?:when|how\s+long|(?:what|which)\s+(?:date|day|month|year|time|season))\b|什么时候|何时|哪[天年月]|几[点号月]|多久"
)
ASKS_HOW_MANY = regex.compile(
    r"(?i)\bhow\s+(?:many|much|long|old|often|far|tall|big)\b|多少|多[大久长远高]|几[个次天岁年本只位]"
)

# "Do you remember what I said" asks the companion for the user's words: such frames say nothing.
FRAME = regex.compile(
    r"\b(?:do|did|can|could|will|would)\s+you\s+(?:(?:still|please|also)\s+)*(?:remember|recall|know|tell\s+me|remind\s+me|guess)\b"
    r"|\b(?:you\s+(?:know|remember)|thank\s+you|remind\s+me|tell\s+me|let\s+me)\b"
    r"|[你您]?还?(?:记得|知道)|[你您]?(?:能|可以)?告诉我(?!过)|(?:谢谢|请问)[你您]?|[你您]好"
)
PERSON = regex.compile(
    r"\b(?:(?P<user>i|me|my|mine|we|our)|(?P<companion>you|your|yours))\b|(?P<user>[我咱])|(?P<companion>[你您])"
)
MAX_TELLING_TERMS = 2  # of words; who says more than that says what it is about
MAX_TELLING_PAIRS = 5  # of overlapping pairs of characters, which are about as much
HAN = regex.compile(r"\p{Han}")

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


def parse_cue(cue: str, when: datetime, names: Names) -> Cue:
    """The cue, asked at `when` in the user's zone; `names` are what "user" and "companion" are called."""
    bare = without_names(cue, names)
    return Cue(
        terms=ends(list(dict.fromkeys(terms(bare, when))), MOST_CUE_TERMS),
        speaker=find_speaker(cue) or _named(cue, names),
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


def find_speaker(cue: str) -> str:
    """Return whose words the cue asks for: the one whom its first "I" or "you" names ("user" or "companion"), or ""."""
    match = PERSON.search(FRAME.sub(" ", cue.casefold().replace("’", "'")))
    if match is None:
        return ""
    return Memory.Speaker.USER if match["user"] else Memory.Speaker.COMPANION


def is_follow_up(text: str, names: Names = NOBODY) -> bool:
    """Return whether the message refers to what was said before, and says little else.

    `names` are those of the two who talk: by them the other is only addressed. Whoever is named besides is whom "her"
    means.
    """
    bare = _without_address(text, names)
    telling = list(filter(tells_something, terms(bare)))
    if len(telling) > (MAX_TELLING_PAIRS if HAN.search(bare) else MAX_TELLING_TERMS):
        return False
    if not NAME.search(bare) and _any_of("refers").search(bare):
        return True
    if not is_question(bare):
        return bool(_any_of("goes_on_at_the_end", "$").search(bare))
    if _any_of("goes_on", "^").search(bare):
        return True
    if not NAME.search(bare) and _any_of("refers_in_questions").search(bare):
        return True
    return bool(_any_of("asks_alone", "^$").search(bare))


def _without_address(text: str, names: Names) -> str:
    """Return the text without a name at its beginning or end by which somebody is addressed."""
    either = "|".join(regex.escape(name) for name in names.values() if name)
    if not either:
        return text
    return regex.sub(rf"(?i)^\W*(?:{either})\s*[,，:：]|[,，]\s*(?:{either})(?=\W*$)", "", text)


@cache
def _any_of(key: str, where: str = "") -> "regex.Pattern[str]":
    """Return a pattern of any of the words under that key: at the beginning ("^"), the end ("$"), alone or anywhere.

    Those of letters with spaces between words are found as whole words.
    """
    words = (
        regex.escape(word) if HAN.search(word) else rf"\b{regex.escape(word)}\b" for word in words_of(key)
    )
    any_of = f"(?:{'|'.join(words)})"
    places = {"^": rf"^\W*{any_of}", "$": rf"{any_of}\W*$", "^$": rf"^\W*{any_of}\W*$"}
    return regex.compile(places.get(where, any_of), regex.IGNORECASE)
