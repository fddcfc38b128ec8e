"""How memories feel, and what recalls do to it: feelings, how deep a memory sits, reinforcement, a companion's mood.

The numbers of feelings and depths are those of AIRI's playground.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from math import exp2
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from memory.scoring.policy import days_between, require

MOVED = 0.3  # a feeling above this may stir of itself
STIRRED = 0.05
HALF_DAYS = 3 / 24  # half of it is gone after three hours
CALM_WEIGHT = 1.0  # as much as one neutral memory just called to mind: no single one sways the whole


class Emotion(TextChoices):
    """What a companion may show."""

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


SHIFTS: dict[Reaction, tuple[float, float]] = {  # of joy, of aversion
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


@dataclass(frozen=True, slots=True)
class Feeling:
    """A memory's joy and aversion, each from 0 to 1, else ValueError."""

    joy: float = 0.0
    aversion: float = 0.0

    def __post_init__(self) -> None:
        require("joy", self.joy, 0, 1)
        require("aversion", self.aversion, 0, 1)

    def after(self, reaction: Reaction) -> "Feeling":
        """Return the feeling once a recall was taken so."""
        return self._moved(*SHIFTS[reaction])

    def stirred(self) -> "Feeling":
        """Return the feeling once the memory came to mind unasked: the stronger one grows a little, if it is strong."""
        if self.joy > self.aversion and self.joy > MOVED:
            return self._moved(STIRRED, 0.0)
        return self._moved(0.0, STIRRED if self.aversion > MOVED else 0.0)

    def _moved(self, joy: float, aversion: float) -> "Feeling":
        return Feeling(_share(self.joy + joy), _share(self.aversion + aversion))


def reaction_to(mood: float) -> Reaction:
    """Return how a companion in that mood (−1 to 1, else ValueError) takes a recall: five steps, the middle neutral."""
    require("mood", mood, -1, 1)
    strength = "strong_" if abs(mood) >= 0.6 else ""
    return Reaction(strength + ("joy" if mood > 0 else "aversion")) if abs(mood) >= 0.2 else Reaction.NEUTRAL


def depth(recalls: int) -> Depth:
    """Short-term without a recall, working with 1 to 4, long-term from 5, muscle from 40; ValueError below 0."""
    if recalls < 0:
        raise ValueError(f"recalls must not be negative: {recalls}.")
    steps = [(40, Depth.MUSCLE), (5, Depth.LONG_TERM), (1, Depth.WORKING), (0, Depth.SHORT_TERM)]
    return next(name for least, name in steps if recalls >= least)


def _share(value: float) -> float:
    """Within 0 to 1, and without the crumbs of binary fractions."""
    return round(min(max(value, 0.0), 1.0), 6)


# What a reply was shown sits deeper afterwards.
# Locked in the order of their ids, as whoever embeds does: else the two could wait for each other for ever.
# The feelings are those of Feeling: `after` the reaction, or `stirred` where the memory came unasked.
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
    """Strengthen what the recalls of this reply found, in a companion of this mood (-1 to 1); return how many memories.

    Each memory counts once for the reply and those that it goes on from, however often this runs; those that were `used`
    before do not count again. One query.
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


class Felt(NamedTuple):
    """A memory that came to mind at a moment, with its joy and aversion."""

    at: datetime
    joy: float
    aversion: float


def mood(felt: Iterable[Felt], now: datetime) -> float:
    """Return a mood from -1, all aversion, to 1, all joy; 0 where nothing was felt, or long ago.

    Σ w (joy - aversion) / (1 + Σ w), where w = 2^(-t / 3 h) and t is the time since each came to mind.
    """
    weighed = [
        (exp2(-days_between(memory.at, now) / HALF_DAYS), memory.joy - memory.aversion) for memory in felt
    ]
    return sum(weight * feeling for weight, feeling in weighed) / (
        CALM_WEIGHT + sum(weight for weight, _ in weighed)
    )
