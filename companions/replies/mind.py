"""Loading what is always in mind: one statement."""

import json
from typing import Any
from uuid import UUID

from companions.in_mind import Inner, Mind, Named
from companions.life.mood import Feeling
from memory.together import Asked, Rows

# In SQL, for each turn waits for it: four tables in one trip. A revision that is stale tells nothing any more.
IN_MIND = """
SELECT 'slots', name, text, '', 0, changed_at,
       ARRAY(SELECT message_id FROM memory_slot_sources WHERE slot_id = slot.id)
  FROM memory_slot slot WHERE companion_id = %(companion)s
UNION ALL
SELECT 'blocks', name, text, description, most_characters, changed_at,
       ARRAY(SELECT message_id FROM memory_block_sources WHERE block_id = block.id)
  FROM memory_block block WHERE companion_id = %(companion)s
UNION ALL
SELECT about, '', sentences::text, '', 0, made_at, ARRAY[]::uuid[]
  FROM (SELECT DISTINCT ON (about) * FROM memory_revision
         WHERE companion_id = %(companion)s ORDER BY about, number DESC) newest
 WHERE NOT is_stale
UNION ALL
(SELECT 'inner', emotion, text, json_build_array(valence, arousal, intensity)::text, 0, made_at, seen || id
   FROM companions_innerstate WHERE companion_id = %(companion)s ORDER BY number DESC LIMIT 1)
"""


def always_in_mind(companion_id: UUID) -> Asked[Mind]:
    """What the companion has in mind whether it talks or not; to be asked."""
    return Asked(IN_MIND, {"companion": companion_id}, _mind)


def _mind(rows: Rows) -> Mind:
    self_concept, profile = _sentences(rows, "self_concept"), _sentences(rows, "user_profile")
    return Mind(
        self_concept=[one["text"] for one in self_concept],
        profile=[one["text"] for one in profile],
        slots=_named(rows, "slots"),
        blocks=_named(rows, "blocks"),
        inner=next((_inner(row) for row in rows if row[0] == "inner"), None),
        sources=frozenset({id for row in rows for id in row[6]} | _ids([*self_concept, *profile])),
    )


def _named(rows: Rows, what: str) -> list[Named]:
    named = (Named(row[1], row[2], row[5], row[3], row[4]) for row in rows if row[0] == what)
    return sorted(named, key=lambda one: one.name)


def _inner(row: tuple[Any, ...]) -> Inner:
    valence, arousal, intensity = json.loads(row[3])
    return Inner(row[2], Feeling.clamped(valence, arousal, row[1], intensity), row[5])


def _sentences(rows: Rows, about: str) -> list[dict[str, Any]]:
    return [one for row in rows if row[0] == about for one in json.loads(row[2])]


def _ids(sentences: list[dict[str, Any]]) -> set[UUID]:
    return {UUID(str(id)) for one in sentences for id in one.get("sources") or ()}
