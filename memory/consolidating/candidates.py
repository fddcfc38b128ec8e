"""Candidates: what of a companion's memories is worth a look by night. No model is asked."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from uuid import UUID

import numpy as np

from memory.consolidating.pairs import Pair, pairs_of
from memory.consolidating.prompting import known_line, pursuit_line
from memory.cue import Names
from memory.entries import Entries, code
from memory.learning.neighbours import known_to
from memory.models import Memory, Pursuit
from memory.terms import terms
from providers.tokens import estimate

MOST_GROUPS, MOST_MEMBERS, LEAST_MEMBERS = 6, 8, 3
COMMON = 5  # a term that more than every fifth memory has tells little
MOST_PURSUITS = 12
MOST_MEMORIES = 120
OPEN_PURSUITS = (Pursuit.Status.NEW, Pursuit.Status.UNDER_WAY)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a night's request tells of, in its order: memories and pursuits. `pairs` are the ids of two that are near.

    True where there is anything to ask about.
    """

    memories: Sequence[Memory]
    pursuits: Sequence[Pursuit]
    pairs: frozenset[Pair]
    has_groups: bool = False

    def __bool__(self) -> bool:
        return bool(self.pairs or self.pursuits or self.has_groups)


def candidates(
    companion_id: UUID, since: datetime | None, *, zone: tzinfo, room: int, names: Names
) -> Candidates:
    """What fits into `room` tokens, what has changed since that moment (None: ever) first.

    Of what the companion has learnt, still holds and may show to a model: two memories near in meaning in the space that
    serves it, or of the same words; three or more that share a telling term; its open goals and ideas. What else has
    changed fills the rest, as far as there is anything to ask about. `names` tell nothing.
    """
    every = sorted(
        known_to(companion_id), key=lambda one: (not _is_new(one, since), -one.learnt_at.timestamp())
    )
    new = {one.pk for one in every if _is_new(one, since)}
    own = _own_codes(every, names)
    pairs = pairs_of(companion_id, new, own)
    groups = _groups(every, new, own)
    pursuits = _pursuits(companion_id, room // 2, zone)
    there = {one.pk: one for one in every}
    wanted = _in_order(pairs, groups, _about(pursuits, every, own), [pk for pk in there if pk in new])
    left = room - sum(_tokens(one, zone) for one in pursuits)
    shown = _fitting([tuple(there[pk] for pk in pks) for pks in wanted], left, zone)
    ids = {one.pk for one in shown}
    return Candidates(
        shown,
        pursuits,
        frozenset(pair for pair in pairs if pair <= ids),
        has_groups=any(len(ids.intersection(group)) >= LEAST_MEMBERS for group in groups),
    )


def _is_new(memory: Memory, since: datetime | None) -> bool:
    changed_at = max(filter(None, (memory.learnt_at, memory.edited_at)))
    return since is None or changed_at >= since


def _own_codes(every: Sequence[Memory], names: Names) -> dict[UUID, frozenset[int]]:
    """For each memory the codes of its terms, without those of names."""
    told = {code(term) for name in names.values() for term in terms(name)}
    if not every:
        return {}
    entries = Entries.unpack(b"".join(bytes(one.entry) for one in every))
    parts = np.split(entries.codes, np.cumsum(entries.lengths)[:-1])
    return {one.pk: frozenset(part.tolist()) - told for one, part in zip(every, parts, strict=True)}


def _groups(
    every: Sequence[Memory], new: set[UUID], own: dict[UUID, frozenset[int]]
) -> list[tuple[UUID, ...]]:
    """The members of each group, what changed first: three or more, one of them new, that share a telling term."""
    of: dict[int, list[UUID]] = defaultdict(list)
    for one in every:
        for term in own[one.pk] if one.kind != Memory.Kind.INSIGHT else ():
            of[term].append(one.pk)
    most = max(MOST_MEMBERS, len(every) // COMMON)
    telling = [(term, pks) for term, pks in of.items() if LEAST_MEMBERS <= len(pks) <= most and new & {*pks}]
    telling.sort(key=lambda one: (-len(new & {*one[1]}), -len(one[1]), one[0]))
    return list(dict.fromkeys(tuple(pks[:MOST_MEMBERS]) for _, pks in telling))[:MOST_GROUPS]


def _pursuits(companion_id: UUID, room: int, zone: tzinfo) -> list[Pursuit]:
    """The open goals and ideas that a model may see and that fit, those not looked at for longest first."""
    mine = Pursuit.objects.filter(companion_id=companion_id, status__in=OPEN_PURSUITS)
    shown = mine.filter(memory__in=known_to(companion_id)).select_related("memory")
    kept: list[Pursuit] = []
    for one in sorted(shown, key=lambda one: (one.reviewed_at or one.memory.learnt_at, one.pk)):
        room -= _tokens(one, zone)
        if room >= 0 and len(kept) < MOST_PURSUITS:
            kept.append(one)
    return kept


def _tokens(pursuit: Pursuit, zone: tzinfo) -> int:
    return estimate(pursuit_line(100, pursuit, zone))


def _about(
    pursuits: Sequence[Pursuit], every: Sequence[Memory], own: dict[UUID, frozenset[int]]
) -> list[UUID]:
    """What shares a term with what is pursued, in its order."""
    pursued = [own.get(one.memory_id, frozenset()) for one in pursuits]
    return [one.pk for one in every if any(own[one.pk] & codes for codes in pursued)][:MOST_MEMORIES]


def _in_order(
    pairs: Sequence[Pair], groups: Sequence[tuple[UUID, ...]], about: Sequence[UUID], new: Sequence[UUID]
) -> Iterator[tuple[UUID, ...]]:
    """What is shown, one after the other; what belongs together, together."""
    yield from (tuple(sorted(pair)) for pair in pairs)
    yield from groups
    yield from ((pk,) for pk in (*about, *new))


def _fitting(wanted: Sequence[tuple[Memory, ...]], room: int, zone: tzinfo) -> list[Memory]:
    """Each memory once, as many as fit, those that belong together all or none."""
    kept: dict[UUID, Memory] = {}
    for together in wanted:
        more = [one for one in together if one.pk not in kept]
        tokens = sum(estimate(known_line(1000, one, zone)) for one in more)
        if tokens <= room and len(kept) + len(more) <= MOST_MEMORIES:
            kept |= {one.pk: one for one in more}
            room -= tokens
    return list(kept.values())
