"""News: which of several observations a companion does not know yet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

import numpy as np
import structlog
from django.db import connection
from django.db.models import Window, prefetch_related_objects
from django.db.models.functions import RowNumber
from pgvector import Vector

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from memory.embedding.spaces import embedder_of, serving_space
from memory.errors import NoveltyError, WidthError
from memory.models import Memory, Space
from memory.recall.traits import sign_facts
from providers.embedding import Embedder
from providers.embedding.embedder import Floats, normalised
from providers.errors import ProviderError
from text.storable import ends, storable

log = structlog.get_logger(__name__)

ALIKE = 0.95  # MetaGPT's: a squared distance below 0.1 between vectors of length 1, which is a cosine above 1 - 0.1 / 2
MOST_OBSERVATIONS = 100
MOST_WINDOWS = 8  # of one observation
MOST_TEXTS = 128  # of all together: where there are many, each is known by its beginning and its end
MOST_SAME = 20  # in the same words: "tomorrow" in them may mean another day each time
NEAREST = 5  # the nearest of them may name another day, and the next the same
NEAR = """
SELECT asked.place, near.memory_id, near.likeness
  FROM unnest(%(places)s::int[], %(vectors)s::vector[]) AS asked(place, vector)
 CROSS JOIN LATERAL (
       SELECT memory_id, -(embedding.vector <#> asked.vector) AS likeness
         FROM memory_embedding embedding
         JOIN memory_memory memory ON memory.id = embedding.memory_id AND memory.closed_at IS NULL
        WHERE embedding.companion_id = %(companion)s AND embedding.space_id = %(space)s
          AND -(embedding.vector <#> asked.vector) >= %(threshold)s
        ORDER BY embedding.vector <#> asked.vector
        LIMIT %(nearest)s) near
 ORDER BY asked.place, near.likeness DESC
"""

Likely = Mapping[str, Sequence[tuple[Memory, float]]]


@dataclass(frozen=True, slots=True)
class Known:
    """An observation that is known, the memory that knows it, and their likeness: a cosine, 1 for equal texts."""

    observation: str
    memory: Memory
    likeness: float


@dataclass(frozen=True, slots=True)
class Novelty:
    """What is new, in the order in which it was asked and each text once, and what is known.

    `by_meaning` tells whether meanings were compared; without an embedder that answers only equal texts are known.
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
    """Which of at most 100 observations the companion has no open memory of.

    Known is what a memory says in the same words, or with a likeness (cosine) of `threshold` or more and the same
    days, numbers and denials; "yesterday" counts from `now`, and in a memory from when it happened,
    in the user's `zone`. The default is strict: that a thing is kept twice does less harm than that it is lost. What
    says nothing is neither new nor known. A memory that is not embedded yet knows equal texts alone.

    Vectors are compared exactly at every width, also beyond the 2,000 from which recall looks at their bits first: what
    is estimated can miss a threshold. At most five SQL queries and 128 texts to the embedder, however many are asked.
    Raises NewsError.
    """
    if len(observations) > MOST_OBSERVATIONS:
        raise NoveltyError(
            f"{MOST_OBSERVATIONS} observations at most can be asked about, not {len(observations)}."
        )
    if not 0 <= threshold <= 1:
        raise NoveltyError(f"A likeness lies from 0 to 1: {threshold} is none.")
    asked = [text for text in dict.fromkeys(map(storable, observations)) if text.strip()]
    same = _same(companion_id, asked)
    known = dict(_known(asked, same, now, zone))
    left = [text for text in asked if text not in known]
    near = _near(companion_id, left, threshold, payer)
    known |= dict(_known(left, near or {}, now, zone))
    told = [known[text] for text in asked if text in known]
    prefetch_related_objects([one.memory for one in told], "message")
    return Novelty([text for text in asked if text not in known], told, near is not None)


def _known(asked: Sequence[str], likely: Likely, now: datetime, zone: tzinfo) -> Iterator[tuple[str, Known]]:
    """Those of what was asked that a likely memory tells too: of several the first."""
    for text in asked:
        told = sign_facts(text, now.astimezone(zone))
        for memory, likeness in likely.get(text, ()):
            if sign_facts(memory.text, memory.happened_at.astimezone(zone)) == told:
                yield text, Known(text, memory, round(likeness, 4))
                break


def _same(companion_id: UUID, asked: Sequence[str]) -> Likely:
    """The memories in the same words, the newest first, at most so many of each observation."""
    if not asked:
        return {}
    of_one = Window(RowNumber(), partition_by="text", order_by=["-happened_at", "-id"])
    rows = Memory.objects.of(companion_id).open().filter(text__in=asked).alias(place=of_one)
    same: dict[str, list[tuple[Memory, float]]] = {}
    for memory in rows.filter(place__lte=MOST_SAME).defer("entry"):
        same.setdefault(memory.text, []).append((memory, 1.0))
    return same


def _near(companion_id: UUID, asked: Sequence[str], threshold: float, payer: Payer | None) -> Likely | None:
    """The memories that are so alike, the nearest first; None where no embedder answers."""
    space = serving_space(companion_id)
    serving = embedder_of(space) if space else None
    if space is None or serving is None:
        return None
    if not asked:
        return {}
    try:
        with charged(payer, ModelCall.Purpose.EMBEDDING):
            meant = vectors(serving, space, asked)
    except (ProviderError, WidthError) as error:
        log.warning("observations_not_embedded", code=error.code)
        return None
    return _nearest(companion_id, space, asked, meant, threshold)


def vectors(serving: Embedder, space: Space, asked: Sequence[str]) -> Floats:
    """(n, width), of length 1: of a long text the mean of its windows."""
    most = max(1, min(MOST_WINDOWS, MOST_TEXTS // len(asked)))
    windows = [ends(serving.windows(text), most) or [text] for text in asked]
    every = serving.embed_documents([window for of_one in windows for window in of_one])
    if every.shape != (sum(map(len, windows)), space.width):
        raise WidthError(space.model, space.width, every.shape)
    starts = np.cumsum([0, *map(len, windows[:-1])])
    return normalised(np.add.reduceat(every, starts, axis=0))


def _nearest(
    companion_id: UUID, space: Space, asked: Sequence[str], vectors: Floats, threshold: float
) -> Likely:
    told: dict[str, Any] = {
        "places": list(range(len(asked))),
        "vectors": [Vector(vector).to_text() for vector in vectors],
        "companion": companion_id,
        "space": space.pk,
        "threshold": threshold,
        "nearest": NEAREST,
    }
    with connection.cursor() as cursor:
        cursor.execute(NEAR, told)
        rows = cursor.fetchall()
    memories = Memory.objects.of(companion_id).defer("entry").in_bulk({id for _, id, _ in rows})
    likely: dict[str, list[tuple[Memory, float]]] = {}
    for place, id, likeness in rows:
        if id in memories:
            likely.setdefault(asked[place], []).append((memories[id], min(likeness, 1.0)))
    return likely
