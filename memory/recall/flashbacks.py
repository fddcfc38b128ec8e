"""Flashbacks: memories that come to mind unasked. All randomness is passed in, so that a seed decides."""

from collections.abc import Mapping
from datetime import datetime
from random import Random
from uuid import UUID

from django.db.models import FloatField
from django.db.models.functions import Coalesce, Greatest, Length

from memory.emotion import MOVED
from memory.models import Memory
from memory.recall.candidates import MemoryFilter
from memory.recall.recall import Found
from memory.scoring import Remembered
from memory.scoring.policy import DAY, days_between, require, retention

JOY_WEIGHT = 1.5
AVERSION_WEIGHT = 2.0  # what hurt comes back unasked more often than what pleased
MAX_FLASHBACK_CANDIDATES = 25  # with feelings, and as many that were not recalled for long
MIN_FLASHBACK_CHARACTERS = 12  # "Good night." is nothing to come back to,
MAX_FLASHBACK_CHARACTERS = 400  # and nobody recalls a whole page in a flash


def is_flashback_due(chance: Random, probability: float) -> bool:
    """Return whether a flashback comes to mind this time; takes one number from `chance`.

    Raise ValueError for a probability outside of 0 to 1.
    """
    require("probability", probability, 0, 1)
    return chance.random() < probability


def find_flashback(companion_id: UUID, filters: MemoryFilter, chance: Random, now: datetime) -> Found | None:
    """Return a memory of the companion that comes to mind unasked, or None if there is none; one SQL query.

    It is one with the strongest feelings, or one recalled (or learnt) longest ago, but over a day. It has 12 to 400
    characters, and is none that the filters leave out, that is closed or whose message is hidden. The same `chance`
    draws the same from the same memories. Its score is 0, as there is no cue; its reasons say `flashback`.
    """
    memories = filters.apply(Memory.objects.of(companion_id)).exclude(message__is_hidden=True).defer("entry")
    fitting = memories.annotate(
        length=Length("text"),
        feeling=Greatest("joy", "aversion", output_field=FloatField()),
        last=Coalesce("recalled_at", "learnt_at"),
    ).filter(length__gte=MIN_FLASHBACK_CHARACTERS, length__lte=MAX_FLASHBACK_CHARACTERS)
    felt = fitting.filter(feeling__gt=MOVED).order_by("-feeling", "pk")[:MAX_FLASHBACK_CANDIDATES]
    idle = fitting.filter(last__lt=now - DAY).order_by("last", "pk")[:MAX_FLASHBACK_CANDIDATES]
    candidates = {memory.pk: memory for memory in felt.union(idle)}
    rows = {
        memory.pk: Remembered(
            fit=0,
            likeness=None,
            age_days=days_between(memory.happened_at, now),
            idle_days=days_between(memory.recalled_at or memory.learnt_at, now),
            recalls=memory.times_recalled,
            joy=memory.joy,
            aversion=memory.aversion,
        )
        for memory in candidates.values()
    }
    drawn = draw_flashback(rows, chance)
    return Found(candidates[drawn], 0.0, {"flashback": True}) if drawn else None


def draw_flashback(candidates: Mapping[UUID, Remembered], chance: Random) -> UUID | None:
    """Return one of the candidates, drawn by weight, or None if there is none.

    The same seed and candidates draw the same, whatever the order of the candidates.
    """
    ids = sorted(candidates)
    return chance.choices(ids, [weigh_flashback(candidates[id]) for id in ids])[0] if ids else None


def weigh_flashback(row: Remembered) -> float:
    """Return the weight of a candidate: its retention, times up to 4.5 for its feelings; relevance plays no part."""
    return retention(row) * (1 + JOY_WEIGHT * row.joy + AVERSION_WEIGHT * row.aversion)
