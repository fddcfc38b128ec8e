"""Loading what is always in mind: one query for a turn."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import connection

from companions.in_mind import Inner, Mind, Named
from companions.life.mood import Feeling
from companions.replies.material import Turn

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


def in_mind(turn: Turn) -> Mind:
    """What the turn's companion has in mind."""
    session = turn.message.session
    return replace(always_in_mind(turn.companion.pk), scratch=session.scratch, pressure=session.pressure)


def always_in_mind(companion_id: UUID) -> Mind:
    """What the companion has in mind whether it talks or not."""
    with connection.cursor() as cursor:
        cursor.execute(IN_MIND, {"companion": companion_id})
        rows = cursor.fetchall()
    self_concept, profile = _sentences(rows, "self_concept"), _sentences(rows, "user_profile")
    return Mind(
        self_concept=[one["text"] for one in self_concept],
        profile=[one["text"] for one in profile],
        slots=_named(rows, "slots"),
        blocks=_named(rows, "blocks"),
        inner=next((_inner(row) for row in rows if row[0] == "inner"), None),
        sources=frozenset({id for row in rows for id in row[6]} | _ids([*self_concept, *profile])),
    )


def _named(rows: list[tuple[Any, ...]], what: str) -> list[Named]:
    named = (Named(row[1], row[2], row[5], row[3], row[4]) for row in rows if row[0] == what)
    return sorted(named, key=lambda one: one.name)


def _inner(row: tuple[Any, ...]) -> Inner:
    valence, arousal, intensity = json.loads(row[3])
    return Inner(row[2], Feeling.clamped(valence, arousal, row[1], intensity), row[5])


def _sentences(rows: list[tuple[Any, ...]], about: str) -> list[dict[str, Any]]:
    return [one for row in rows if row[0] == about for one in json.loads(row[2])]


def _ids(sentences: list[dict[str, Any]]) -> set[UUID]:
    return {UUID(str(id)) for one in sentences for id in one.get("sources") or ()}
