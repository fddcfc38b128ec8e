"""Agreement: how two memories near in meaning stand to each other, whatever a model says of them. Pure."""

from datetime import datetime, timedelta, tzinfo
from enum import Enum, auto

from memory.learning.grounding import CAPITAL, NO_NAMES, names_in
from memory.learning.subjects import (
    RELATED,
    denies,
    is_same_subject,
    names_no_other_day,
    tells_the_same,
)
from memory.models import Memory
from memory.recall.query import Names
from memory.recall.traits import STOP_WORDS, sign_facts, terms
from text.dates import days_told, tells_past

ONCE = Memory.Kind.EVENT, Memory.Kind.PROMISE
ONE_OCCASION = timedelta(days=3)  # what happens once and names no day is told again so soon


class Agreement(Enum):
    """SAME: the other tells nothing that the kept one does not. AGAINST: another number, or a denial. APART: whatever
    else: another person or day, or more than the kept one tells.
    """

    SAME = auto()
    AGAINST = auto()
    APART = auto()


def compare(kept: Memory, other: Memory, zone: tzinfo, names: Names) -> Agreement:
    """Return how another memory, near in meaning, stands to one that is to be kept for it, whatever a model says of them.

    Kinds tell nothing: of one meeting a model makes now an event, now a promise. "Yesterday" in them counts in the user's
    zone. The other names nobody and nothing that the kept one does not, and both speak of the same kin; what is told of a
    day is more than what is told of any, but of what happens once: that is the same on one day, or told within three.
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
    """Return whether two texts of what happens once may tell of the same time: of one day, or so near each other, and
    both of what was or both of what is to come.
    """
    if tells_past(text) != tells_past(other):
        return False
    names_day = bool(sign_facts(text, at).days or days_told(text, at.date()))
    is_same_day = names_day and names_no_other_day(text, at, other, other_at)
    return abs(at - other_at) <= ONE_OCCASION or (
        is_same_day and names_no_other_day(other, other_at, text, at)
    )


def is_about_the_same(memory: Memory, other: Memory, zone: tzinfo, names: Names) -> bool:
    """Return whether they share their subject, by texts and quotes; the names of the two who talk are none."""
    quotes, other_quotes = ([str(quote["text"]) for quote in row.quotes] for row in (memory, other))
    when = memory.happened_at.astimezone(zone)
    return is_same_subject(memory.text, quotes, other.text, other_quotes, names.values(), when)


def _named(text: str) -> set[str]:
    """Return the terms of all that is capitalised, wherever it stands, and of Chinese names."""
    return {*terms(" ".join([*CAPITAL.findall(text), *names_in(text)]))} - STOP_WORDS - NO_NAMES
