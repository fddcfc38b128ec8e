"""What a vector does not tell apart: two texts a word, a number or a day away from each other may be as like as one.

"The rent is 900" is to "The rent is 950" as 0.97, "I am allergic" to "I am not allergic" too (all-MiniLM-L6-v2).
"""

from dataclasses import dataclass
from datetime import datetime

import regex

from text.dates import read_dates
from text.storable import folded

NUMBER = regex.compile(r"\d+(?:[.,:]\d+)*")
DENIAL = regex.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|cannot|\p{L}+n't)\b|[不没沒未别別无無]"
)


@dataclass(frozen=True, slots=True)
class FactSignature:
    """The days that a text names, as terms, the numbers in the rest of it, and how often it denies something."""

    days: frozenset[str]
    numbers: frozenset[str]
    denials: int


def sign_facts(text: str, when: datetime) -> FactSignature:
    """Those of `text`, said at `when` in the speaker's zone: two texts that differ in them tell different things."""
    days, rest = read_dates(folded(text), when)
    return FactSignature(frozenset(days), frozenset(NUMBER.findall(rest)), len(DENIAL.findall(rest)))
