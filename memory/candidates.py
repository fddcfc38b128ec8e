"""The one query of a recall: which memories of a companion share meaning or words with a cue, and how much."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import Vector

from memory.errors import WidthError
from providers.embedding import embedder

POOL = 100  # of each of the two kinds of likeness
SATURATION = 1.2  # BM25's k1: how soon a repeated word stops counting more
LENGTH = 0.75  # BM25's b: how much a long memory is held back

HELD = """
SELECT id, terms, cardinality(terms) AS length, speaker, is_pinned, right(text, 8) AS ending,
       (id = ANY(%(left_out)s::uuid[]) OR coalesce(message_id = ANY(%(left_out)s::uuid[]), false)) AS is_left_out
  FROM memory_memory
 WHERE companion_id = %(companion)s
"""
OPEN_NOW = " AND closed_at IS NULL"
OPEN_THEN = (
    " AND happened_at <= %(as_of)s::timestamptz AND (closed_at IS NULL OR closed_at > %(as_of)s::timestamptz)"
)

# Okapi BM25 (Robertson and Zaragoza 2009) with the companion's own statistics, as a share of what a memory could
# reach that says every word of the cue without end.
QUERY = """
WITH held AS MATERIALIZED ({held}),
size AS (SELECT count(*)::float AS n, greatest(avg(length), 1)::float AS average FROM held),
hits AS (
  SELECT held.id, length, term, count(*)::float AS times
    FROM held CROSS JOIN unnest(held.terms) AS term
   WHERE held.terms && %(terms)s::text[] AND term = ANY(%(terms)s::text[])
   GROUP BY held.id, length, term
),
rarity AS (
  SELECT term, ln(1 + (n - count(hits.id) + 0.5) / (count(hits.id) + 0.5)) AS weight
    FROM unnest(%(terms)s::text[]) AS term LEFT JOIN hits USING (term) CROSS JOIN size
   GROUP BY term, n
),
words AS (
  SELECT id, array_agg(term ORDER BY weight DESC, term) AS matched,
         sum(weight * times / (times + %(k)s * (1 - %(b)s + %(b)s * length / average)))
           / (SELECT sum(weight) FROM rarity) AS words
    FROM hits JOIN rarity USING (term) CROSS JOIN size
   GROUP BY id
),
meaning AS ({meaning}),
pool AS (
  (SELECT id FROM words JOIN held USING (id) WHERE NOT is_left_out ORDER BY words DESC, id LIMIT %(pool)s)
  UNION
  (SELECT id FROM meaning JOIN held USING (id) WHERE NOT is_left_out ORDER BY likeness DESC, id LIMIT %(pool)s)
)
SELECT id, likeness, coalesce(words, 0), coalesce(matched, '{{}}'), speaker, is_pinned, ending
  FROM pool JOIN held USING (id) LEFT JOIN words USING (id) LEFT JOIN meaning USING (id)
"""
MEANING = """
SELECT memory_id AS id, max(1 - (vector <=> %(vector)s::vector)) AS likeness
  FROM memory_embedding JOIN memory_space AS space ON space.id = space_id
 WHERE companion_id = %(companion)s AND model = %(model)s AND width = %(width)s
 GROUP BY memory_id
"""
NO_MEANING = "SELECT NULL::uuid AS id, NULL::float AS likeness WHERE false"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that shares something with the cue: `likeness` is a cosine or None, `words` lies between 0 and 1."""

    id: UUID
    likeness: float | None
    words: float
    matched: list[str]
    speaker: str
    is_pinned: bool
    ending: str


def candidates(
    companion_id: UUID,
    cue_terms: Sequence[str],
    vector: NDArray[np.float32] | None,
    left_out: Sequence[UUID],
    as_of: datetime | None,
) -> list[Candidate]:
    """The hundred nearest by meaning and the hundred nearest by words, together and in no order; one SQL query."""
    serving = embedder() if vector is not None else None
    if serving is not None and vector is not None and vector.shape != (serving.width,):
        raise WidthError(serving.model, serving.width, vector.shape)
    query = QUERY.format(
        held=HELD + (OPEN_THEN if as_of else OPEN_NOW), meaning=MEANING if serving is not None else NO_MEANING
    )
    with connection.cursor() as cursor:
        cursor.execute(
            query,
            {
                "companion": companion_id,
                "terms": list(cue_terms),
                "vector": Vector(vector).to_text() if serving is not None and vector is not None else None,
                "model": serving.model if serving else None,
                "width": serving.width if serving else None,
                "left_out": list(left_out),
                "as_of": as_of,
                "k": SATURATION,
                "b": LENGTH,
                "pool": POOL,
            },
        )
        return [Candidate(*row) for row in cursor.fetchall()]
