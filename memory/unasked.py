"""What comes to mind unasked: one of a companion's felt or long unrecalled memories, drawn by a source of chance."""

from datetime import datetime
from random import Random
from uuid import UUID

from django.db.models import FloatField
from django.db.models.functions import Coalesce, Greatest, Length

from memory.among import Among
from memory.emotion import MOVED
from memory.flashback import which
from memory.models import Memory
from memory.policies import Remembered
from memory.policies.remembered import DAY, days_between
from memory.recall import Found

EACH = 25  # felt ones, and long unrecalled ones, that may come
SHORTEST, LONGEST = (
    12,
    400,
)  # characters: "Good night." is nothing to come back to, and no page comes in a flash


def unasked(companion_id: UUID, among: Among, chance: Random, now: datetime) -> Found | None:
    """A memory of the companion that comes up of itself, or None where there is none to come; one SQL query.

    Never one that `among` leaves out, that is closed or of which the message is hidden. The same chance
    draws the same from the same memories. Its score is 0, for no cue fits it; its reasons say `flashback`.
    """
    candidates = {one.pk: one for one in _candidates(companion_id, among, now)}
    drawn = which({id: _row(one, now) for id, one in candidates.items()}, chance)
    return Found(candidates[drawn], 0.0, {"flashback": True}) if drawn else None


def _candidates(companion_id: UUID, among: Among, now: datetime) -> list[Memory]:
    every = among.of(Memory.objects.of(companion_id)).exclude(message__is_hidden=True).defer("entry")
    short = every.annotate(
        length=Length("text"),
        feeling=Greatest("joy", "aversion", output_field=FloatField()),
        last=Coalesce("recalled_at", "learnt_at"),
    ).filter(length__gte=SHORTEST, length__lte=LONGEST)
    felt = short.filter(feeling__gt=MOVED).order_by("-feeling", "pk")[:EACH]
    idle = short.filter(last__lt=now - DAY).order_by("last", "pk")[:EACH]
    return list(felt.union(idle))


def _row(memory: Memory, now: datetime) -> Remembered:
    """What the draw looks at."""
    return Remembered(
        fit=0,
        likeness=None,
        age_days=days_between(memory.happened_at, now),
        idle_days=days_between(memory.recalled_at or memory.learnt_at, now),
        recalls=memory.times_recalled,
        joy=memory.joy,
        aversion=memory.aversion,
    )
