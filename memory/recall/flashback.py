"""Flashbacks: now and then something comes to mind unasked. All chance is passed in, so a seed decides."""

from collections.abc import Mapping
from datetime import datetime
from random import Random
from uuid import UUID

from django.db.models import FloatField
from django.db.models.functions import Coalesce, Greatest, Length

from memory.emotion import MOVED
from memory.models import Memory
from memory.recall.filters import MemoryFilter
from memory.recall.recall import Found
from memory.scoring.kith import retention
from memory.scoring.remembered import DAY, Remembered, days_between, require

PROBABILITY = 0.05
JOY_WEIGHT = 1.5
AVERSION_WEIGHT = 2.0  # what hurt comes back by itself more than what pleased
MAX_CANDIDATES = 25  # felt ones, and as many that were not recalled for long
MIN_CHARACTERS, MAX_CHARACTERS = (
    12,
    400,
)  # "Good night." is nothing to come back to, and no page comes in a flash


def is_flashback_due(chance: Random, probability: float = PROBABILITY) -> bool:
    """Return whether something comes to mind this time; takes one number from the source.

    Raise ValueError for a probability outside of 0 to 1.
    """
    require("probability", probability, 0, 1)
    return chance.random() < probability


def find_flashback(companion_id: UUID, filters: MemoryFilter, chance: Random, now: datetime) -> Found | None:
    """Return a memory of the companion that comes up of itself, or None where there is none; one SQL query.

    A felt or long unrecalled one, never one that the filters leave out, that is closed or of which the message is
    hidden. The same chance draws the same from the same memories. Its score is 0, for no cue fits it; its reasons say
    `flashback`.
    """
    memories = filters.apply(Memory.objects.of(companion_id)).exclude(message__is_hidden=True).defer("entry")
    fitting = memories.annotate(
        length=Length("text"),
        feeling=Greatest("joy", "aversion", output_field=FloatField()),
        last=Coalesce("recalled_at", "learnt_at"),
    ).filter(length__gte=MIN_CHARACTERS, length__lte=MAX_CHARACTERS)
    felt = fitting.filter(feeling__gt=MOVED).order_by("-feeling", "pk")[:MAX_CANDIDATES]
    idle = fitting.filter(last__lt=now - DAY).order_by("last", "pk")[:MAX_CANDIDATES]
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
    drawn = draw(rows, chance)
    return Found(candidates[drawn], 0.0, {"flashback": True}) if drawn else None


def draw(candidates: Mapping[UUID, Remembered], chance: Random) -> UUID | None:
    """Return one of the candidates, drawn by weight, or None where there is none.

    The same seed and candidates draw the same, in whichever order they are given.
    """
    ids = sorted(candidates)
    return chance.choices(ids, [weigh(candidates[id]) for id in ids])[0] if ids else None


def weigh(row: Remembered) -> float:
    """Return what is still there of the memory, up to 4.5 times of it where it is felt; relevance has no part in it."""
    return retention(row) * (1 + JOY_WEIGHT * row.joy + AVERSION_WEIGHT * row.aversion)
