"""Contradictions and repetitions: which known memories a new fact may make untrue, or repeat in other words.

Only a model that reads both can tell; so each new fact is paired with the memories near it, for a second reading.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from uuid import UUID

from accounts.limits.usage import Payer
from memory.learning.answers import Learnt
from memory.learning.neighbours import find_alike
from memory.learning.requests import Drafted
from memory.learning.rules.evidence import Supported, is_same_text, weigh
from memory.learning.rules.subjects import may_be_about_the_same, subject
from memory.learning.talk import Talk
from memory.learning.verdicts import why_not_theirs
from memory.learning.verification import OVER, SAME
from memory.models import Memory
from memory.recall.query import Names

MIN_LIKENESS = 0.35  # all-MiniLM-L6-v2 gives "five cups of coffee" and "stopped drinking coffee" 0.6
MAX_OF_ONE, MAX_PAIRS = 2, 8  # pairs with one new fact or one memory, and in all
CONTRADICTS = {OVER, "taken_back"}  # words of a second reading


@dataclass(frozen=True, slots=True)
class Pair:
    """A new fact, by its place among the entries, and a memory known before, with their likeness (cosine)."""

    place: int
    text: str
    memory: Memory
    likeness: float

    @property
    def drafted(self) -> Drafted:
        return Drafted(f"earlier {self.place} {self.memory.pk}", "earlier", self.memory.text, (), [self.text])


def find_pairs(
    companion_id: UUID,
    entries: Sequence[Learnt],
    talk: Talk,
    known: Sequence[Memory],
    *,
    now: datetime,
    zone: tzinfo,
    names: Names,
    payer: Payer | None = None,
) -> list[Pair]:
    """Return pairs of entries that rules let pass and memories that they may contradict or repeat: at most eight,
    nearest first.

    A memory that an entry itself refers to (`of`) counts as near it.
    """
    weighed = [(place, weigh(entry, talk, names, known)) for place, entry in enumerate(entries)]
    told = [(place, entry) for place, entry in weighed if isinstance(entry, Supported)]
    texts = [entry.learnt.text for _, entry in told]
    alike = find_alike(companion_id, texts, now=now, zone=zone, payer=payer, names=names)
    pairs = [
        pair
        for (place, entry), near in zip(told, alike, strict=True)
        for pair in _pair(place, entry, entry.learnt.find_known(known), near, names.values(), now)
    ]
    return _take_nearest(pairs)


def _pair(
    place: int,
    entry: Supported,
    named: Memory | None,
    near: Sequence[tuple[Memory, float]],
    names: Collection[str],
    now: datetime,
) -> list[Pair]:
    """Return the pairs of an entry with memories that may be about the same person, and that it names, is near in
    meaning or shares a telling term with; without those that the one who tells the entry could not close.
    """
    text = entry.learnt.text
    about = subject(text, names, now)
    beside = [*near, *([(named, 0.0)] if named else [])]
    found: dict[UUID, Pair] = {}
    for memory, likeness in beside:
        is_near = likeness >= MIN_LIKENESS or memory == named or about & subject(memory.text, names, now)
        is_about_the_same = may_be_about_the_same(text, memory.text, names)
        if is_near and is_about_the_same and not is_same_text(text, memory.text):
            found.setdefault(memory.pk, Pair(place, text, memory, likeness))
    return [pair for pair in found.values() if not why_not_theirs(entry, pair.memory)]


def _take_nearest(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the nearest pairs, with at most two of one fact or one memory, so that no fact crowds out the others."""
    taken: list[Pair] = []
    counts: Counter[int | UUID] = Counter()
    for pair in sorted(pairs, key=lambda pair: -pair.likeness):
        if max(counts[pair.place], counts[pair.memory.pk]) < MAX_OF_ONE:
            counts.update([pair.place, pair.memory.pk])
            taken.append(pair)
    return taken[:MAX_PAIRS]


def find_contradicted(pairs: Sequence[Pair], words: Mapping[str, str]) -> list[Pair]:
    """Return the pairs of which only the new fact can be true now, by the `words` of a second reading."""
    return [pair for pair in pairs if words.get(pair.drafted.key) in CONTRADICTS]


def find_repeated(pairs: Sequence[Pair], words: Mapping[str, str]) -> list[Pair]:
    """Return the pairs of which both say the same, by the `words` of a second reading."""
    return [pair for pair in pairs if words.get(pair.drafted.key) == SAME]


def group_by_place(pairs: Sequence[tuple[int, Memory]]) -> dict[int, list[Memory]]:
    """Return, by the place of each entry, the memories that are paired with it."""
    grouped: dict[int, list[Memory]] = {}
    for place, memory in pairs:
        grouped.setdefault(place, []).append(memory)
    return grouped
