"""The one query of a recall: which memories of a companion share meaning or words with a cue, and how much."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from pgvector import Vector

from memory.errors import WidthError
from providers.embedding import embedder
from providers.vectors import Floats

SATURATION = 0.9  # BM25's k1: how soon a repeated word stops counting more
LENGTH = 0.4  # BM25's b: how much a long memory is held back
REACH = 2  # how many neighbours in the talk come along on each side

HELD = """
companion_id = %(companion)s AND NOT id = ANY(%(left_out)s::uuid[])
AND (message_id IS NULL OR NOT message_id = ANY(%(left_out)s::uuid[])) AND
"""
OPEN_NOW = "closed_at IS NULL"
OPEN_THEN = (
    "happened_at <= %(as_of)s::timestamptz AND (closed_at IS NULL OR closed_at > %(as_of)s::timestamptz)"
)

# Words: BM25 (Robertson and Zaragoza 2009; constants of Trotman, Puurula and Burgess 2014) with the companion's own
# statistics, as a share of what a memory could reach that says every word of the cue without end.
# Meaning: cosine, which for vectors of length 1 is the inner product; of several windows the best counts.
# Both are standardised over the companion's memories before they are added: so neither a model's narrow range of
# cosines nor a long cue decides which of the two counts more.
QUERY = """
WITH held AS MATERIALIZED (
  SELECT id, happened_at, cardinality(terms) AS length FROM memory_memory WHERE {held}
),
size AS MATERIALIZED (SELECT count(*)::float AS n, greatest(avg(length), 1)::float AS average FROM held),
sharing AS MATERIALIZED (
  SELECT id, terms, cardinality(terms) AS length FROM memory_memory WHERE {held} AND terms && %(terms)s::text[]
),
hits AS MATERIALIZED (
  SELECT id, term, length, count(*)::float AS times
    FROM (SELECT id, length, unnest(terms) AS term FROM sharing) AS said
   WHERE term = ANY(%(terms)s::text[])
   GROUP BY id, term, length
),
rarity AS MATERIALIZED (
  SELECT term, ln(1 + (n - count(id) + 0.5) / (count(id) + 0.5)) AS weight
    FROM unnest(%(terms)s::text[]) AS term LEFT JOIN hits USING (term) CROSS JOIN size
   GROUP BY term, n
),
words AS MATERIALIZED (
  SELECT id, sum(weight * times / (times + %(k)s * (1 - %(b)s + %(b)s * length / average)))
               / (SELECT sum(weight) FROM rarity) AS words
    FROM hits JOIN rarity USING (term) CROSS JOIN size
   GROUP BY id
),
meaning AS MATERIALIZED ({meaning}),
likened AS (
  SELECT id, happened_at, likeness, coalesce(words, 0) AS words,
         row_number() OVER (ORDER BY happened_at, id) AS place
    FROM held LEFT JOIN words USING (id) LEFT JOIN meaning USING (id)
),
usual AS MATERIALIZED (
  SELECT avg(likeness) AS likeness, nullif(stddev_pop(likeness), 0) AS likeness_spread,
         avg(words) AS words, nullif(stddev_pop(words), 0) AS words_spread
    FROM likened
),
fitting AS (
  SELECT one.*, coalesce((one.likeness - usual.likeness) / likeness_spread, 0)
                + coalesce((one.words - usual.words) / words_spread, 0) AS fit
    FROM likened AS one CROSS JOIN usual
),
best AS (
  SELECT place FROM fitting WHERE likeness IS NOT NULL OR words > 0 ORDER BY fit DESC, id LIMIT %(most)s
),
found AS MATERIALIZED (
  SELECT * FROM fitting
   WHERE place IN (SELECT place + step FROM best CROSS JOIN generate_series(-%(reach)s, %(reach)s) AS step)
   LIMIT %(most)s * (2 * %(reach)s + 1)
),
matches AS (
  SELECT id, array_agg(term ORDER BY weight DESC, term) AS matched
    FROM hits JOIN rarity USING (term) WHERE id IN (SELECT id FROM found)
   GROUP BY id
)
SELECT id, likeness, words, coalesce(matched, '{{}}'), fit, place, found.happened_at, speaker, is_pinned, right(text, 8)
  FROM found JOIN memory_memory USING (id) LEFT JOIN matches USING (id)
"""
MEANING = """
SELECT id, max(likeness) AS likeness
  FROM (SELECT memory_id AS id, -(vector <#> %(vector)s::vector) AS likeness
          FROM memory_embedding JOIN memory_space AS space ON space.id = space_id
         WHERE companion_id = %(companion)s AND model = %(model)s AND width = %(width)s
        OFFSET 0) AS windows  -- a fence: the vectors themselves must not be sorted
 GROUP BY id
"""
NO_MEANING = "SELECT NULL::uuid AS id, NULL::float AS likeness WHERE false"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that shares something with the cue, or the neighbour of one.

    `likeness` is a cosine or None, `words` lies between 0 and 1; `fit` is the sum of both in standard deviations
    above the companion's average memory; `place` counts its memories in the order of time.
    """

    id: UUID
    likeness: float | None
    words: float
    matched: list[str]
    fit: float
    place: int
    happened_at: datetime
    speaker: str
    is_pinned: bool
    ending: str


def candidates(
    companion_id: UUID,
    cue_terms: Sequence[str],
    vector: Floats | None,
    left_out: Sequence[UUID],
    as_of: datetime | None,
    most: int,
) -> list[Candidate]:
    """Those `most` that fit best and their neighbours, in no order; one SQL query.

    `vector` has length 1; WidthError is raised where it has another width than the serving space.
    """
    values: dict[str, Any] = {
        "companion": companion_id,
        "terms": list(cue_terms),
        "left_out": list(left_out),
        "as_of": as_of,
        "k": SATURATION,
        "b": LENGTH,
        "most": most,
        "reach": REACH,
    }
    meaning = NO_MEANING
    if vector is not None and (serving := embedder()) is not None:
        if vector.shape != (serving.width,):
            raise WidthError(serving.model, serving.width, vector.shape)
        meaning = MEANING
        values |= {"vector": Vector(vector).to_text(), "model": serving.model, "width": serving.width}
    query = QUERY.format(held=HELD + (OPEN_THEN if as_of else OPEN_NOW), meaning=meaning)
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [Candidate(*row) for row in cursor.fetchall()]
