"""Reading a cue: its terms, whose words it asks for, which days it names, and what kind of answer it wants."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

import regex

from memory.language import HAN, any_word_of, pattern_of
from memory.models import Memory
from memory.recall.traits import NAME, find_name_terms, is_question, is_small_talk, tells_something, terms
from text.dates import find_spans
from text.strings import ends, has_words, split_sentences

MAX_CUE_TERMS = 64  # of a longer cue, the first and the last: often a question stands at its end
MAX_PARTS = 4  # sentences of a cue that are searched for one by one; of a longer cue, the first and the last
LONGEST_MONTH = timedelta(days=31)
MIN_NAME_CHARACTERS = 2
MAX_TELLING_TERMS = 2  # of words, in a follow-up: a message with more says itself what it is about
MAX_TELLING_PAIRS = 5  # the same for overlapping pairs of characters, of which a word has more

ASKS_WHEN, ASKS_HOW_MANY = pattern_of("asks_when"), pattern_of("asks_how_many")
# "Do you remember what I said" asks for the user's words: the "you" in such a frame does not count.
FRAME = pattern_of("frame")
MEANS_USER, MEANS_COMPANION = pattern_of("means_user"), pattern_of("means_companion")
REFERS, REFERS_IN_QUESTIONS = any_word_of("refers"), any_word_of("refers_in_questions")
GOES_ON, GOES_ON_AT_THE_END = any_word_of("goes_on", "^"), any_word_of("goes_on_at_the_end", "$")
ASKS_ALONE = any_word_of("asks_alone", "^$")

Names = Mapping[str, str]  # what "user" and "companion" are called
NOBODY: Names = {}


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue as it was understood.

    `terms` are without repetitions and without the names of the two who talk; `speaker` is whose words it asks for
    ("user", "companion" or ""); `days` are the stretches of days that it names, each from the beginning of its first
    day to the end of its last one, in the user's zone, as seconds since 1970; `names` are the terms of capitalised
    words. `asked_at` is when it is asked, in that zone.
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
        """The stretches of days that the cue names and that are over."""
        today = datetime.combine(self.asked_at.date(), time(), self.asked_at.tzinfo).timestamp()
        return [(begins, ends) for begins, ends in self.days if ends <= today]


def parse_cue(cue: str, when: datetime, names: Names) -> Cue:
    """Return the cue as asked at `when` in the user's zone; `names` are what "user" and "companion" are called."""
    bare = without_names(cue, names)
    asks, spans = is_question(cue) or bool(ASKS_WHEN.search(cue)), find_spans(cue, when)
    named = [who for who, name in _name_patterns(names).items() if name.search(cue)]
    return Cue(
        terms=ends(list(dict.fromkeys(terms(bare, when))), MAX_CUE_TERMS),
        speaker=find_speaker(cue) or (named[0] if len(named) == 1 else ""),
        # Who names a whole year in passing ("since I moved in 2024") does not speak of all that happened in it.
        days=[_seconds(*span, when) for span in spans if asks or span[1] - span[0] <= LONGEST_MONTH],
        asks_when=bool(ASKS_WHEN.search(cue)),
        asks_how_many=bool(ASKS_HOW_MANY.search(cue)),
        names=find_name_terms(bare),
        is_question=asks,
        asked_at=when,
    )


def split_cue(cue: str) -> list[str]:
    """Return the sentences of the cue that say what it is about, of more than four the first and the last two; an empty
    list if there is only one.

    A long message is about several things: as a whole it is like no memory, but each sentence brings its own to mind.
    """
    parts = list(dict.fromkeys(filter(_is_about_something, split_sentences(cue))))
    return ends(parts, MAX_PARTS) if len(parts) > 1 else []


def _is_about_something(sentence: str) -> bool:
    """Return whether the sentence says more than one thing, or asks: "lovely" and "not moving" are like anything."""
    telling = list(filter(tells_something, terms(sentence)))
    return len(telling) > 1 or (is_question(sentence) and not is_small_talk(sentence))


def _seconds(first: date, last: date, when: datetime) -> tuple[float, float]:
    begins = datetime.combine(first, time(), when.tzinfo)
    ends = datetime.combine(last, time(), when.tzinfo) + timedelta(days=1)
    return begins.timestamp(), ends.timestamp()


def without_names(cue: str, names: Names) -> str:
    """Return the cue without the names of the two who talk, unless nothing else is left.

    The names only tell whose words are wanted; in a vector they would attract whatever names somebody.
    """
    bare = cue
    for name in _name_patterns(names).values():
        bare = name.sub(" ", bare)
    bare = " ".join(bare.split())
    return bare if has_words(bare) else cue


def _name_patterns(names: Names) -> "dict[str, regex.Pattern[str]]":
    """Return a pattern of each name, by whose it is; names of one letter are left out."""
    return {
        who: regex.compile(rf"(?<!\p{{Latin}}){regex.escape(name)}(?:['’]s)?(?!\p{{Latin}})")
        for who, name in names.items()
        if len(name) >= MIN_NAME_CHARACTERS
    }


def find_speaker(cue: str) -> str:
    """Return whose words the cue asks for, by its first "I" or "you": "user", "companion", or "" if it has neither."""
    asked = FRAME.sub(" ", cue.casefold().replace("’", "'"))
    user, companion = MEANS_USER.search(asked), MEANS_COMPANION.search(asked)
    if user and (companion is None or user.start() < companion.start()):
        return Memory.Speaker.USER
    return Memory.Speaker.COMPANION if companion else ""


def is_follow_up(text: str, names: Names) -> bool:
    """Return whether the message refers to what was said before, and says little else.

    `names` are those of the two who talk; at the beginning or the end of the message they only address the other. If
    anybody else is named, "her" means that person and does not refer back.
    """
    either = "|".join(regex.escape(name) for name in names.values() if name)
    address = rf"(?i)^\W*(?:{either})\s*[,，:：]|[,，]\s*(?:{either})(?=\W*$)"
    bare = regex.sub(address, "", text) if either else text
    telling = list(filter(tells_something, terms(bare)))
    if len(telling) > (MAX_TELLING_PAIRS if HAN.search(bare) else MAX_TELLING_TERMS):
        return False
    names_somebody = bool(NAME.search(bare))
    if not names_somebody and REFERS.search(bare):
        return True
    if not is_question(bare):
        return bool(GOES_ON_AT_THE_END.search(bare))
    if GOES_ON.search(bare) or ASKS_ALONE.search(bare):
        return True
    return not names_somebody and bool(REFERS_IN_QUESTIONS.search(bare))
