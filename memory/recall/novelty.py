"""Novelty: which of several observations a companion does not know yet."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Window, prefetch_related_objects
from django.db.models.functions import RowNumber
from pgvector import Vector

from accounts.limits.usage import Payer
from memory.embedding.spaces import embed_texts
from memory.models import Memory
from memory.recall.traits import sign_facts
from text.strings import storable

ALIKE = 0.95  # MetaGPT's: a squared distance below 0.1 between vectors of length 1, which is a cosine above 1 - 0.1 / 2
MAX_OBSERVATIONS = 100
MAX_SAME = 20  # memories in the same words: "tomorrow" in them may mean another day each time
MAX_NEAREST = 5  # memories near in meaning: the nearest may name another day, and the next one the same
NEAR = """
SELECT asked.place, near.memory_id, near.likeness
  FROM unnest(%(places)s::int[], %(vectors)s::vector[]) AS asked(place, vector)
 CROSS JOIN LATERAL (
       SELECT memory_id, -(embedding.vector <#> asked.vector) AS likeness
         FROM memory_embedding embedding
         JOIN memory_memory memory ON memory.id = embedding.memory_id AND memory.closed_at IS NULL
          AND NOT memory.is_asleep
        WHERE embedding.companion_id = %(companion)s AND embedding.space_id = %(space)s
          AND -(embedding.vector <#> asked.vector) >= %(threshold)s
        ORDER BY embedding.vector <#> asked.vector
        LIMIT %(nearest)s) near
 ORDER BY asked.place, near.likeness DESC
"""

Likely = Mapping[str, Sequence[tuple[Memory, float]]]


@dataclass(frozen=True, slots=True)
class Known:
    """An observation that is known, the memory that tells it, and their likeness: a cosine, 1 for equal texts."""

    observation: str
    memory: Memory
    likeness: float


@dataclass(frozen=True, slots=True)
class Novelty:
    """The observations that are `new` and those that are `known`, in the given order, each text once.

    `by_meaning` tells whether meanings were compared; if no embedder answered, only equal texts are known.
    """

    new: list[str]
    known: list[Known]
    by_meaning: bool


def find_novel(
    companion_id: UUID,
    observations: Sequence[str],
    *,
    now: datetime,
    zone: tzinfo,
    threshold: float = ALIKE,
    payer: Payer | None = None,
) -> Novelty:
    """Return which of at most 100 observations the companion has no open memory of.

    An observation is known if a memory has the same words, or a likeness (cosine) of at least `threshold`, and names
    the same days, numbers and denials. "Yesterday" counts from `now`, in a memory from when it happened, in the user's
    `zone`. The default is strict: keeping a thing twice does less harm than losing it. Blank observations are neither
    new nor known. A memory that is not embedded yet is found by equal texts alone.

    Vectors are compared exactly at every width, also beyond the 2,000 from which recall compares their bits first: an
    estimate could miss the threshold. At most five SQL queries and 128 texts to the embedder, however many
    observations. Raise ValueError.
    """
    if len(observations) > MAX_OBSERVATIONS:
        raise ValueError(
            f"{MAX_OBSERVATIONS} observations at most can be asked about, not {len(observations)}."
        )
    if not 0 <= threshold <= 1:
        raise ValueError(f"A likeness lies from 0 to 1: {threshold} is none.")
    asked = [text for text in dict.fromkeys(map(storable, observations)) if text.strip()]
    known = dict(_find_known(asked, _load_same(companion_id, asked), now, zone))
    left = [text for text in asked if text not in known]
    near = _load_near(companion_id, left, threshold, payer)
    known |= dict(_find_known(left, near or {}, now, zone))
    found = [known[text] for text in asked if text in known]
    prefetch_related_objects([hit.memory for hit in found], "message")
    return Novelty([text for text in asked if text not in known], found, near is not None)


def _find_known(
    asked: Sequence[str], likely: Likely, now: datetime, zone: tzinfo
) -> Iterator[tuple[str, Known]]:
    """Yield each text that one of its likely memories tells too, with the first such memory."""
    for text in asked:
        signature = sign_facts(text, now.astimezone(zone))
        for memory, likeness in likely.get(text, ()):
            if sign_facts(memory.text, memory.happened_at.astimezone(zone)) == signature:
                yield text, Known(text, memory, round(likeness, 4))
                break


def _load_same(companion_id: UUID, asked: Sequence[str]) -> Likely:
    """Return by text the open memories in the same words, newest first, at most `MAX_SAME` each."""
    same: dict[str, list[tuple[Memory, float]]] = defaultdict(list)
    if asked:
        place = Window(RowNumber(), partition_by="text", order_by=["-happened_at", "-id"])
        rows = Memory.objects.of(companion_id).open().filter(text__in=asked).alias(place=place)
        for memory in rows.filter(place__lte=MAX_SAME).defer("entry"):
            same[memory.text].append((memory, 1.0))
    return same


def _load_near(
    companion_id: UUID, asked: Sequence[str], threshold: float, payer: Payer | None
) -> Likely | None:
    """Return by text the open memories that reach the threshold, nearest first; None if no embedder answers."""
    embedded = embed_texts(companion_id, asked, payer)
    if embedded is None:
        return None
    if not asked:
        return {}
    space, vectors = embedded
    parameters: dict[str, Any] = {
        "places": list(range(len(asked))),
        "vectors": [Vector(vector).to_text() for vector in vectors],
        "companion": companion_id,
        "space": space.pk,
        "threshold": threshold,
        "nearest": MAX_NEAREST,
    }
    with connection.cursor() as cursor:
        cursor.execute(NEAR, parameters)
        rows = cursor.fetchall()
    memories = Memory.objects.of(companion_id).defer("entry").in_bulk({id for _, id, _ in rows})
    near: dict[str, list[tuple[Memory, float]]] = defaultdict(list)
    for place, id, likeness in rows:
        if id in memories:
            near[asked[place]].append((memories[id], min(likeness, 1.0)))
    return near
