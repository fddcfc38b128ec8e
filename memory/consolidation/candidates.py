"""Candidates: which memories, goals and ideas a model is shown. No model is asked here."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import combinations
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection

from memory.consolidation.request import MAX_GOALS, render_goal, render_memory
from memory.embedding.spaces import find_serving_space
from memory.learning.neighbours import select_known
from memory.models import Memory, Pursuit
from memory.recall.candidates import PackedIndex, hash_term
from memory.recall.query import Names
from memory.recall.traits import terms
from providers.tokens import estimate

MAX_GROUPS, MAX_MEMBERS, MIN_MEMBERS = 6, 8, 3
COMMON = 5  # a term that more than one memory in five has tells little
MAX_MEMORIES = 120
OPEN = (Pursuit.Status.NEW, Pursuit.Status.UNDER_WAY)
NEAR = 0.7  # a cosine: paraphrases lie above it, and so do some contradictions
MAX_COMPARED = 300  # memories whose neighbours are searched: those that changed, then the newest
MAX_PAIRS = 60
MAX_EQUALS = 8  # of the memories with the same words, so many are paired
PAIRS = """
SELECT one.memory_id, other.memory_id, max(-(one.vector <#> other.vector)) AS likeness
  FROM memory_embedding one
  JOIN memory_embedding other ON other.companion_id = one.companion_id AND other.space_id = one.space_id
                             AND other.memory_id <> one.memory_id
 WHERE one.companion_id = %(companion)s AND one.space_id = %(space)s
   AND one.memory_id = ANY(%(compared)s) AND other.memory_id = ANY(%(known)s)
   AND -(one.vector <#> other.vector) >= %(near)s
 GROUP BY one.memory_id, other.memory_id
 ORDER BY likeness DESC, one.memory_id, other.memory_id
 LIMIT %(most)s
"""

Pair = frozenset[UUID]
Codes = Mapping[UUID, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The memories, and the goals and ideas, that a request shows, in its order. `pairs` are the ids of memories that
    are near each other. As a condition it is false if there is nothing to ask about: goals alone tell nothing of how
    they stand.
    """

    memories: Sequence[Memory]
    goals: Sequence[Pursuit]
    pairs: frozenset[Pair]
    has_groups: bool = False

    def __bool__(self) -> bool:
        return bool(self.pairs or self.has_groups or (self.goals and self.memories))


def find_candidates(
    companion_id: UUID, since: datetime | None, *, zone: tzinfo, room: int, names: Names
) -> Candidates:
    """Return the candidates that fit into `room` tokens, those changed at or after `since` (None: ever) first.

    From what the companion has learnt, still holds and may show to a model: pairs of memories that are near in meaning
    (in the space that serves the companion) or have the same words; groups of three or more that share a telling term;
    its open goals and ideas, and what shares a term with them. Other changed memories fill the rest. The `names` of the
    two who talk do not count as terms.
    """

    def is_new(memory: Memory) -> bool:
        return since is None or max(filter(None, (memory.learnt_at, memory.edited_at))) >= since

    memories = sorted(
        select_known(companion_id), key=lambda memory: (not is_new(memory), -memory.learnt_at.timestamp())
    )
    new = {memory.pk for memory in memories if is_new(memory)}
    codes = _read_codes(memories, names)
    pairs = _find_pairs(companion_id, new, codes)
    groups = _find_groups([memory for memory in memories if memory.kind != Memory.Kind.INSIGHT], new, codes)
    goals = _find_goals(companion_id, room // 2, zone)
    of_goals = frozenset[int]().union(*(codes.get(goal.memory_id, frozenset()) for goal in goals))
    goal_ids = {goal.memory_id for goal in goals}  # these are shown as goals
    others = [memory for memory in memories if memory.pk not in goal_ids]
    about = [memory.pk for memory in others if codes[memory.pk] & of_goals][:MAX_MEMORIES]
    by_id = {memory.pk: memory for memory in memories}
    together = [*(tuple(sorted(pair)) for pair in pairs), *groups]
    alone = [(pk,) for pk in (*about, *(memory.pk for memory in others if memory.pk in new))]
    room -= sum(_estimate_goal(goal, zone) for goal in goals)
    shown = _fit([tuple(by_id[pk] for pk in pks) for pks in (*together, *alone)], room, zone)
    ids = {memory.pk for memory in shown}
    return Candidates(
        shown,
        goals,
        frozenset(pair for pair in pairs if pair <= ids),
        has_groups=any(len(ids.intersection(group)) >= MIN_MEMBERS for group in groups),
    )


def _read_codes(memories: Sequence[Memory], names: Names) -> Codes:
    """Return by memory the hashes of its terms, without those of `names`."""
    if not memories:
        return {}
    named = {hash_term(term) for name in names.values() for term in terms(name)}
    index = PackedIndex.unpack(b"".join(bytes(memory.entry) for memory in memories))
    parts = np.split(index.terms, np.cumsum(index.lengths)[:-1])
    return {memory.pk: frozenset(part.tolist()) - named for memory, part in zip(memories, parts, strict=True)}


def _find_pairs(companion_id: UUID, new: Collection[UUID], codes: Codes) -> list[Pair]:
    """Return the pairs near in meaning or with the same words: those with a new memory first, then the nearest."""
    same: dict[frozenset[int], list[UUID]] = defaultdict(list)
    for pk, own in codes.items():
        same[own].append(pk)
    equal = [frozenset(two) for pks in same.values() for two in combinations(pks[:MAX_EQUALS], 2)]
    found = dict.fromkeys([*equal, *_find_near(companion_id, list(codes))])
    return sorted(found, key=lambda pair: pair.isdisjoint(new))[:MAX_PAIRS]


def _find_near(companion_id: UUID, known: Sequence[UUID]) -> Iterator[Pair]:
    """Yield the pairs that are near in meaning, nearest first; none if no space serves the companion."""
    space = find_serving_space(companion_id)
    if space is None:
        return
    given: dict[str, Any] = {"companion": companion_id, "space": space.pk, "near": NEAR}
    given |= {"compared": list(known[:MAX_COMPARED]), "known": list(known), "most": MAX_COMPARED * 4}
    with connection.cursor() as cursor:
        cursor.execute(PAIRS, given)
        yield from (frozenset((one, other)) for one, other, _ in cursor.fetchall())


def _find_groups(memories: Sequence[Memory], new: set[UUID], codes: Codes) -> list[tuple[UUID, ...]]:
    """Return groups of three or more memories, at least one of them new, that share a telling term, those with most new
    ones first.
    """
    having: dict[int, list[UUID]] = defaultdict(list)
    for memory in memories:
        for term in codes[memory.pk]:
            having[term].append(memory.pk)
    most = max(MAX_MEMBERS, len(codes) // COMMON)
    telling = [
        (term, pks) for term, pks in having.items() if MIN_MEMBERS <= len(pks) <= most and new & {*pks}
    ]
    telling.sort(key=lambda group: (-len(new & {*group[1]}), -len(group[1]), group[0]))
    return list(dict.fromkeys(tuple(pks[:MAX_MEMBERS]) for _, pks in telling))[:MAX_GROUPS]


def _find_goals(companion_id: UUID, room: int, zone: tzinfo) -> list[Pursuit]:
    """Return the open goals and ideas that a model may see and that fit into `room`, longest unreviewed first."""
    mine = Pursuit.objects.filter(companion_id=companion_id, status__in=OPEN)
    shown = mine.filter(memory__in=select_known(companion_id)).select_related("memory")
    kept: list[Pursuit] = []
    for goal in sorted(shown, key=lambda goal: (goal.reviewed_at or goal.memory.learnt_at, goal.pk)):
        room -= _estimate_goal(goal, zone)
        if room >= 0 and len(kept) < MAX_GOALS:
            kept.append(goal)
    return kept


def _estimate_goal(goal: Pursuit, zone: tzinfo) -> int:
    return estimate(render_goal(100, goal, zone))


def _fit(wanted: Sequence[tuple[Memory, ...]], room: int, zone: tzinfo) -> list[Memory]:
    """Return the memories, each once, of the `wanted` groups that fit into `room` tokens as a whole."""
    kept: dict[UUID, Memory] = {}
    for together in wanted:
        more = [memory for memory in together if memory.pk not in kept]
        tokens = sum(estimate(render_memory(1000, memory, zone)) for memory in more)
        if tokens <= room and len(kept) + len(more) <= MAX_MEMORIES:
            kept |= {memory.pk: memory for memory in more}
            room -= tokens
    return list(kept.values())
