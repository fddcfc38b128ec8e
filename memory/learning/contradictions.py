"""Contradictions: which known memories what is learnt now may have ended, whatever words either uses.

Only a model that reads both can tell; so each new fact is put beside those that are near it, and asked about once.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from types import MappingProxyType
from uuid import UUID

from accounts.usage import Payer
from memory.learning.answers import Contradictions, Learnt
from memory.learning.evidence import Supported, find_support, is_same_text
from memory.learning.neighbours import find_alike
from memory.learning.requests import render_contradictions_request
from memory.learning.subjects import may_be_about_the_same, subject
from memory.learning.talk import Talk
from memory.models import Memory
from providers.chat.structured import ask

MIN_LIKENESS = 0.35  # of all-MiniLM-L6-v2: "five cups of coffee" is to "stopped drinking coffee" as 0.6
MAX_OF_ONE = 5  # pairs of one new fact
MAX_PAIRS = 16


@dataclass(frozen=True, slots=True)
class Pair:
    """What was learnt now, by its place among the entries, and what was known before."""

    place: int
    text: str
    memory: Memory


def find_pairs(
    companion_id: UUID,
    entries: Sequence[Learnt],
    talk: Talk,
    known: Sequence[Memory],
    *,
    now: datetime,
    zone: tzinfo,
    names: Mapping[str, str],
    payer: Payer | None = None,
    read: Mapping[int, str] = MappingProxyType({}),
) -> list[Pair]:
    """Return which of the entries that hold may contradict which memories; at most sixteen pairs, the nearest first.

    `read` is what a second reading says of the entries, by their places. A memory that the entry itself names as what it
    changes is beside it in any case.
    """
    told = [
        (place, entry)
        for place, entry in enumerate(entries)
        if isinstance(found := find_support(entry, talk, names, known, read.get(place)), Supported)
        and (found.is_read or entry.verdict != "retract")
    ]
    alike = find_alike(
        companion_id,
        [entry.text for _, entry in told],
        MIN_LIKENESS,
        now=now,
        zone=zone,
        payer=payer,
        names=names,
    )
    rows = [
        _pair(place, entry, [*_named(entry, known), *near], names.values(), now)
        for (place, entry), near in zip(told, alike, strict=True)
    ]
    in_turn = [pair for n in range(MAX_OF_ONE) for row in rows for pair in row[n : n + 1]]
    return in_turn[:MAX_PAIRS]


def _named(entry: Learnt, known: Sequence[Memory]) -> list[tuple[Memory, bool]]:
    return [(known[entry.of - 1], True)] if entry.of and 1 <= entry.of <= len(known) else []


def _pair(
    place: int,
    entry: Learnt,
    near: Sequence[tuple[Memory, bool]],
    names: Collection[str],
    now: datetime,
) -> list[Pair]:
    """Return the pairs of an entry: with what is near in meaning, or has a telling term in common, of the same person."""
    about = subject(entry.text, names, now)
    found = {
        memory.pk: memory
        for memory, is_near in near
        if (is_near or about & subject(memory.text, names, now)) and not is_same_text(entry.text, memory.text)
    }
    return [
        Pair(place, entry.text, memory)
        for memory in found.values()
        if may_be_about_the_same(entry.text, memory.text, names)
    ]


def ask_which_contradict(pairs: Sequence[Pair], zone: tzinfo) -> list[Pair]:
    """Return the pairs of which only the later can be true now; nobody is asked where there are none.

    ProviderUnavailable, ProviderRefused, MalformedError.
    """
    if not pairs:
        return []
    request = render_contradictions_request([(pair.memory, pair.text) for pair in pairs], zone=zone)
    numbers = ask("contradictions", request, Contradictions).contradictions
    return [pairs[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(pairs)]
