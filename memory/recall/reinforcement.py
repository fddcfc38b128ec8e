"""Reinforcement: what a reply was shown sits deeper afterwards, and takes on something of the companion's mood."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from memory.emotion import MOVED, SHIFTS, STIRRED, reaction_to

# Locked in the order of their ids, as whoever embeds does: else the two could wait for each other for ever.
# The feelings are those of memory.emotion.Feeling: `after` the reaction, or `stirred` where the memory came unasked.
USE = """
WITH shown AS (
    SELECT DISTINCT ON (found.memory_id) found.id, found.memory_id, found.reasons ? 'flashback' AS is_unasked
    FROM memory_recalled found JOIN memory_recall recall ON recall.id = found.recall_id
    WHERE recall.reply_id = %(reply)s AND found.memory_id <> ALL(%(used)s) AND NOT EXISTS (
        SELECT FROM memory_recalled other JOIN memory_recall earlier ON earlier.id = other.recall_id
        WHERE other.memory_id = found.memory_id AND other.is_used AND earlier.reply_id = ANY(%(counted)s))
    ORDER BY found.memory_id, found.id
), used AS (
    UPDATE memory_recalled found SET is_used = TRUE FROM shown WHERE found.id = shown.id
    RETURNING shown.memory_id, shown.is_unasked
), moved AS (
    SELECT memory.id,
        CASE WHEN NOT is_unasked THEN %(joy)s WHEN joy > aversion AND joy > %(moved)s THEN %(stirred)s ELSE 0 END AS joy,
        CASE WHEN NOT is_unasked THEN %(aversion)s WHEN joy > aversion AND joy > %(moved)s THEN 0
             WHEN aversion > %(moved)s THEN %(stirred)s ELSE 0 END AS aversion
    FROM used JOIN memory_memory memory ON memory.id = used.memory_id
    ORDER BY memory.id FOR NO KEY UPDATE OF memory
)
UPDATE memory_memory memory
SET times_recalled = memory.times_recalled + 1, recalled_at = %(now)s,
    joy = LEAST(GREATEST(round((memory.joy + moved.joy)::numeric, 6), 0), 1),
    aversion = LEAST(GREATEST(round((memory.aversion + moved.aversion)::numeric, 6), 0), 1)
FROM moved WHERE memory.id = moved.id
"""


def reinforce(
    reply_id: UUID,
    mood: float,
    now: datetime,
    goes_on_from: Collection[UUID] = (),
    used: Collection[UUID] = (),
) -> int:
    """How many memories the recalls of this reply strengthened, in a companion of this mood (-1 to 1); one query.

    Each memory counts once for the reply and those that it goes on from, however often this runs; those that were `used`
    before do not count again.
    """
    joy, aversion = SHIFTS[reaction_to(mood)]
    named: dict[str, Any] = {"reply": reply_id, "counted": [reply_id, *goes_on_from], "now": now}
    named["used"] = list(used)
    named |= {"joy": joy, "aversion": aversion, "moved": MOVED, "stirred": STIRRED}
    with connection.cursor() as cursor:
        cursor.execute(USE, named)
        return int(cursor.rowcount)
