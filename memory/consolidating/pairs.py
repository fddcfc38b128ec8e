"""Pairs of memories that may say the same, or contradict each other."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any
from uuid import UUID

from django.db import connection

from memory.spaces import serving_space

NEAR = 0.7  # a cosine: what is said in other words lies above it, and so does some of what contradicts it
MOST_LOOKED_AT = 300  # memories whose neighbours are looked for: those that changed, then the newest
MOST_PAIRS = 60
MOST_OF_ONE = 8  # memories of the same words
PAIRS = """
SELECT one.memory_id, other.memory_id, max(-(one.vector <#> other.vector)) AS likeness
  FROM memory_embedding one
  JOIN memory_embedding other ON other.companion_id = one.companion_id AND other.space_id = one.space_id
                             AND other.memory_id <> one.memory_id
 WHERE one.companion_id = %(companion)s AND one.space_id = %(space)s
   AND one.memory_id = ANY(%(looked_at)s) AND other.memory_id = ANY(%(known)s)
   AND -(one.vector <#> other.vector) >= %(near)s
 GROUP BY one.memory_id, other.memory_id
 ORDER BY likeness DESC, one.memory_id, other.memory_id
 LIMIT %(most)s
"""

Pair = frozenset[UUID]


def pairs_of(companion_id: UUID, new: Collection[UUID], own: Mapping[UUID, frozenset[int]]) -> list[Pair]:
    """Those of the memories that are near in meaning, or of the same words: with one that is new first, then the nearest.

    `own` are the codes of each memory's terms, in the order in which they are looked at.
    """
    same: dict[frozenset[int], list[UUID]] = defaultdict(list)
    for pk, codes in own.items():
        same[codes].append(pk)
    equal = [frozenset(two) for pks in same.values() for two in combinations(pks[:MOST_OF_ONE], 2)]
    found = dict.fromkeys([*equal, *_near(companion_id, list(own))])
    return sorted(found, key=lambda pair: pair.isdisjoint(new))[:MOST_PAIRS]


def _near(companion_id: UUID, known: Sequence[UUID]) -> Iterator[Pair]:
    """Those near in meaning, the nearest first; none before they are embedded."""
    space = serving_space(companion_id)
    if space is None:
        return
    given: dict[str, Any] = {
        "companion": companion_id,
        "space": space.pk,
        "looked_at": list(known[:MOST_LOOKED_AT]),
        "known": list(known),
        "near": NEAR,
        "most": MOST_LOOKED_AT * 4,
    }
    with connection.cursor() as cursor:
        cursor.execute(PAIRS, given)
        yield from (frozenset((one, other)) for one, other, _ in cursor.fetchall())
