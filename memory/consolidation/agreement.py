"""Agreement: whether two memories near in meaning say the same or contradict each other, by rules alone. Pure."""

from datetime import datetime, timedelta, tzinfo
from enum import Enum, auto

from memory.learning.rules.grounding import CAPITAL, NO_NAMES, names_in
from memory.learning.rules.subjects import (
    RELATED,
    denies,
    is_same_subject,
    names_no_other_day,
    tells_the_same,
)
from memory.models import Memory
from memory.recall.query import Names
from memory.recall.traits import STOP_WORDS, sign_facts, terms
from text.dates import find_days, tells_past

ONCE = Memory.Kind.EVENT, Memory.Kind.PROMISE
ONE_OCCASION = timedelta(days=3)  # two tellings so near each other may mean one event


class Agreement(Enum):
    """How another memory stands to the one to be kept. SAME: it tells nothing more. AGAINST: it has another number, or
    only one of the two is a denial. APART: anything else, e.g. it tells more, or of another person or day.
    """

    SAME = auto()
    AGAINST = auto()
    APART = auto()


def compare(kept: Memory, other: Memory, zone: tzinfo, names: Names) -> Agreement:
    """Return how `other`, near in meaning, stands to `kept`, the memory that would stay if the two were merged.

    Except for insights, their kinds may differ: a model calls the same meeting now an event, now a promise. Dates are
    read in the user's `zone`. They are APART unless `other` has the same speaker, names nobody and nothing that `kept`
    does not, and speaks of the same kin. A fact without a day tells more than the same fact of one day; one-time events
    are the same if on one day, or told within three days.
    """
    said, other_said = {*terms(kept.text)}, {*terms(other.text)}
    is_comparable = (
        (kept.kind == Memory.Kind.INSIGHT) == (other.kind == Memory.Kind.INSIGHT)
        and kept.speaker == other.speaker
        and said & RELATED == other_said & RELATED
        and _named(other.text) <= said
        and is_about_the_same(kept, other, zone, names)
    )
    if not is_comparable:
        return Agreement.APART
    at, other_at = (memory.happened_at.astimezone(zone) for memory in (kept, other))
    denies_as_much = denies(kept.text, at) == denies(other.text, other_at)
    has_its_day = other.kind in ONCE or names_no_other_day(kept.text, at, other.text, other_at)
    is_one = not {kept.kind, other.kind} & {*ONCE} or _is_one_occasion(kept.text, at, other.text, other_at)
    if is_one and has_its_day and denies_as_much and tells_the_same(other.text, other_at, kept.text, at):
        return Agreement.SAME
    facts, other_facts = sign_facts(kept.text, at), sign_facts(other.text, other_at)
    has_other_number = not (facts.numbers <= other_facts.numbers or other_facts.numbers <= facts.numbers)
    is_denied = not denies_as_much and bool(facts.denials) != bool(other_facts.denials)
    is_against = facts.days == other_facts.days and (has_other_number or is_denied)
    return Agreement.AGAINST if is_against else Agreement.APART


def _is_one_occasion(text: str, at: datetime, other: str, other_at: datetime) -> bool:
    """Return whether two texts about a one-time event may mean the same occasion: both tell of the past or neither
    does, and they name the same day or were told within three days.
    """
    if tells_past(text) != tells_past(other):
        return False
    names_day = bool(sign_facts(text, at).days or find_days(text, at.date()))
    is_same_day = names_day and names_no_other_day(text, at, other, other_at)
    return abs(at - other_at) <= ONE_OCCASION or (
        is_same_day and names_no_other_day(other, other_at, text, at)
    )


def is_about_the_same(memory: Memory, other: Memory, zone: tzinfo, names: Names) -> bool:
    """Return whether the memories share a subject, by texts and quotes, leaving out `names`, of the two who talk."""
    quotes, other_quotes = ([str(quote["text"]) for quote in row.quotes] for row in (memory, other))
    when = memory.happened_at.astimezone(zone)
    return is_same_subject(memory.text, quotes, other.text, other_quotes, names.values(), when)


def _named(text: str) -> set[str]:
    """Return the terms of all capitalised words, wherever they stand, and of Chinese names."""
    return {*terms(" ".join([*CAPITAL.findall(text), *names_in(text)]))} - STOP_WORDS - NO_NAMES
