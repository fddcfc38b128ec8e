"""Whether two memories may be one, or contradict each other, whatever a model says of them."""

from collections.abc import Collection
from datetime import tzinfo
from enum import Enum, auto

from memory.learning.grounding import CAPITAL, NO_NAMES, names_in
from memory.learning.subjects import RELATED, is_same_subject
from memory.models import Memory
from memory.telling import Telling, telling
from memory.terms import STOP_WORDS, terms


class Agreement(Enum):
    """SAME: nothing tells them apart. AGAINST: another number, or a denial. APART: another subject, kind or day."""

    SAME = auto()
    AGAINST = auto()
    APART = auto()


def agreement(one: Memory, other: Memory, zone: tzinfo, names: Collection[str]) -> Agreement:
    """How two memories that are near in meaning stand to each other; "yesterday" in them counts in the user's zone."""
    told, other_told = _telling(one, zone), _telling(other, zone)
    is_comparable = one.kind == other.kind and one.speaker == other.speaker and told.days == other_told.days
    is_comparable = is_comparable and _are_the_same_people(one.text, other.text)
    if not is_comparable or not is_about_the_same(one, other, zone, names):
        return Agreement.APART
    return Agreement.SAME if told == other_told else Agreement.AGAINST


def is_about_the_same(one: Memory, other: Memory, zone: tzinfo, names: Collection[str]) -> bool:
    """Whether they share their subject, by their texts and quotes; the names of the two who talk are none."""
    when = one.happened_at.astimezone(zone)
    return is_same_subject(one.text, _quotes(one), other.text, _quotes(other), names, when)


def _are_the_same_people(one: str, other: str) -> bool:
    """Whether neither text speaks of kin, or names somebody or something, that the other does not."""
    said, told = {*terms(one)}, {*terms(other)}
    return said & RELATED == told & RELATED and _named(one) <= told and _named(other) <= said


def _named(text: str) -> set[str]:
    """The terms of all that is capitalised, wherever it stands, and of Chinese names."""
    return {*terms(" ".join([*CAPITAL.findall(text), *names_in(text)]))} - STOP_WORDS - NO_NAMES


def _quotes(memory: Memory) -> list[str]:
    return [str(quote["text"]) for quote in memory.quotes]


def _telling(memory: Memory, zone: tzinfo) -> Telling:
    return telling(memory.text, memory.happened_at.astimezone(zone))
