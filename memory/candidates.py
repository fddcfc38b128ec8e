"""The one query of a recall: which memories of a companion share meaning or words with a cue, and how much."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from pgvector import Vector

from memory.errors import WidthError
from providers.embedding import embedder
from providers.vectors import Floats

POOL = 200
SATURATION = 1.2  # BM25's k1: how soon a repeated word stops counting more
LENGTH = 0.75  # BM25's b: how much a long memory is held back
NEIGHBOURS = 0.5, 0.25  # what the next memory and the next but one lend: an answer is found by its question
CONVERSATION = timedelta(hours=1)  # what lies further apart lends nothing

HELD = """
SELECT id, happened_at, terms, cardinality(terms) AS length
  FROM memory_memory
 WHERE companion_id = %(companion)s
   AND NOT id = ANY(%(left_out)s::uuid[]) AND (message_id IS NULL OR NOT message_id = ANY(%(left_out)s::uuid[]))
"""
OPEN_NOW = " AND closed_at IS NULL"
OPEN_THEN = (
    " AND happened_at <= %(as_of)s::timestamptz AND (closed_at IS NULL OR closed_at > %(as_of)s::timestamptz)"
)

# Words: Okapi BM25 (Robertson and Zaragoza 2009) with the companion's own statistics, as a share of what a memory
# could reach that says every word of the cue without end. Meaning: cosine, a memory's best window.
# Both are standardised over the companion's memories before they are added: so neither the width of a model's
# cosines nor the length of a cue decides which of the two counts more.
QUERY = """
WITH held AS MATERIALIZED ({held}),
size AS (SELECT count(*)::float AS n, greatest(avg(length), 1)::float AS average FROM held),
hits AS (
  SELECT id, length, term, count(*)::float AS times
    FROM held CROSS JOIN unnest(terms) AS term
   WHERE terms && %(terms)s::text[] AND term = ANY(%(terms)s::text[])
   GROUP BY id, length, term
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
alone AS (
  SELECT id, happened_at, likeness, coalesce(words, 0) AS words, matched,
         coalesce((likeness - avg(likeness) OVER ()) / nullif(stddev_pop(likeness) OVER (), 0), 0)
         + coalesce((coalesce(words, 0) - avg(coalesce(words, 0)) OVER ())
                    / nullif(stddev_pop(coalesce(words, 0)) OVER (), 0), 0) AS own
    FROM held LEFT JOIN words USING (id) LEFT JOIN meaning USING (id)
),
together AS (
  SELECT *, {near} AS near FROM alone
  WINDOW talk AS (ORDER BY happened_at, id)
)
SELECT id, likeness, words, coalesce(matched, '{{}}'), own, near, speaker, is_pinned, right(text, 8)
  FROM (SELECT * FROM together WHERE likeness IS NOT NULL OR words > 0 OR near > 0
         ORDER BY own + near DESC, id LIMIT %(pool)s) AS best
  JOIN memory_memory USING (id)
"""
MEANING = """
SELECT memory_id AS id, max(1 - (vector <=> %(vector)s::vector)) AS likeness
  FROM memory_embedding JOIN memory_space AS space ON space.id = space_id
 WHERE companion_id = %(companion)s AND model = %(model)s AND width = %(width)s
 GROUP BY memory_id
"""
NO_MEANING = "SELECT NULL::uuid AS id, NULL::float AS likeness WHERE false"
NEAR = " + ".join(
    f"coalesce(CASE WHEN abs(extract(epoch FROM {there}(happened_at, {steps}) OVER talk - happened_at)) <= {gap} "
    f"THEN {share} * {there}(own, {steps}) OVER talk END, 0)"
    for there in ("lag", "lead")
    for steps, share in enumerate(NEIGHBOURS, start=1)
    for gap in [CONVERSATION.total_seconds()]
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that shares something with the cue.

    `likeness` is a cosine or None, `words` lies between 0 and 1; `own` is the sum of both in standard deviations
    above the companion's average memory, `near` what it gets from its neighbours in the talk.
    """

    id: UUID
    likeness: float | None
    words: float
    matched: list[str]
    own: float
    near: float
    speaker: str
    is_pinned: bool
    ending: str


def candidates(
    companion_id: UUID,
    cue_terms: Sequence[str],
    vector: Floats | None,
    left_out: Sequence[UUID],
    as_of: datetime | None,
) -> list[Candidate]:
    """The two hundred nearest memories, in no order; one SQL query. Raises WidthError for a vector of another width."""
    serving = embedder() if vector is not None else None
    if serving is not None and vector is not None and vector.shape != (serving.width,):
        raise WidthError(serving.model, serving.width, vector.shape)
    held = HELD + (OPEN_THEN if as_of else OPEN_NOW)
    query = QUERY.format(held=held, meaning=MEANING if serving else NO_MEANING, near=NEAR)
    values = {
        "companion": companion_id,
        "terms": list(cue_terms),
        "vector": Vector(vector).to_text() if serving else None,
        "model": serving.model if serving else None,
        "width": serving.width if serving else None,
        "left_out": list(left_out),
        "as_of": as_of,
        "k": SATURATION,
        "b": LENGTH,
        "pool": POOL,
    }
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [Candidate(*row) for row in cursor.fetchall()]
