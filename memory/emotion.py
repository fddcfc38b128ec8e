"""Emotions, the depth of memories, and how being recalled changes a memory's feelings.

The numbers of feelings and depths are taken from AIRI's playground.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from memory.scoring.policy import require

MOVED = 0.3  # a memory with a feeling above this may come up unasked (memory.recall.flashbacks); the feeling then grows:
STIRRED = 0.05


class Emotion(TextChoices):
    """An emotion that a companion can show."""

    NEUTRAL = "neutral", _("neutral")
    HAPPY = "happy", _("happy")
    SAD = "sad", _("sad")
    ANGRY = "angry", _("angry")
    THINK = "think", _("thoughtful")
    SURPRISED = "surprised", _("surprised")
    AWKWARD = "awkward", _("awkward")
    QUESTION = "question", _("puzzled")
    CURIOUS = "curious", _("curious")


class Reaction(TextChoices):
    """How a recall was taken."""

    STRONG_JOY = "strong_joy", _("strong joy")
    JOY = "joy", _("joy")
    NEUTRAL = "neutral", _("neutral")
    AVERSION = "aversion", _("aversion")
    STRONG_AVERSION = "strong_aversion", _("strong aversion")


SHIFTS: dict[Reaction, tuple[float, float]] = {  # added to joy, and to aversion
    Reaction.STRONG_JOY: (0.2, -0.1),
    Reaction.JOY: (0.1, -0.05),
    Reaction.NEUTRAL: (0.0, 0.0),
    Reaction.AVERSION: (-0.05, 0.1),
    Reaction.STRONG_AVERSION: (-0.1, 0.2),
}


class Depth(TextChoices):
    """How deep a memory sits."""

    SHORT_TERM = "short_term", _("short-term")
    WORKING = "working", _("working")
    LONG_TERM = "long_term", _("long-term")
    MUSCLE = "muscle", _("muscle")


def reaction_to(mood: float) -> Reaction:
    """Return how a companion in this mood takes a recall, in five steps. Raise ValueError unless it is −1 to 1."""
    require("mood", mood, -1, 1)
    strength = "strong_" if abs(mood) >= 0.6 else ""
    return Reaction(strength + ("joy" if mood > 0 else "aversion")) if abs(mood) >= 0.2 else Reaction.NEUTRAL


def depth(recalls: int) -> Depth:
    """Return the depth: short-term without recalls, working with 1 to 4, long-term from 5, muscle from 40.

    Raise ValueError if `recalls` is negative.
    """
    if recalls < 0:
        raise ValueError(f"recalls must not be negative: {recalls}.")
    steps = [(40, Depth.MUSCLE), (5, Depth.LONG_TERM), (1, Depth.WORKING), (0, Depth.SHORT_TERM)]
    return next(name for least, name in steps if recalls >= least)


# Count a use of each memory that a reply was shown, and change its feelings: of a memory that the cue found by the
# reaction; of one that came unasked (a flashback) the stronger feeling grows a little, if it is strong.
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
)
UPDATE memory_memory memory
SET times_recalled = memory.times_recalled + 1, recalled_at = %(now)s,
    joy = LEAST(GREATEST(round((memory.joy + moved.joy)::numeric, 6), 0), 1),
    aversion = LEAST(GREATEST(round((memory.aversion + moved.aversion)::numeric, 6), 0), 1)
FROM moved WHERE memory.id = moved.id
"""


def count_uses(
    reply_id: UUID,
    mood: float,
    now: datetime,
    goes_on_from: Collection[UUID] = (),
    used: Collection[UUID] = (),
) -> int:
    """Count a use of each memory that the reply's recalls found, change its feelings by the mood (-1 to 1), and return
    the number of memories. Of a flashback, only the stronger feeling grows, if it is strong at all.

    A memory counts once for the reply and the replies that it continues (`goes_on_from`), however often this runs.
    Memories in `used` do not count. One query.
    """
    joy, aversion = SHIFTS[reaction_to(mood)]
    parameters: dict[str, Any] = {
        "reply": reply_id,
        "counted": [reply_id, *goes_on_from],
        "used": list(used),
        "now": now,
        "joy": joy,
        "aversion": aversion,
        "moved": MOVED,
        "stirred": STIRRED,
    }
    with connection.cursor() as cursor:
        cursor.execute(USE, parameters)
        return int(cursor.rowcount)
