"""Projection: what forgetting and recalls would make of memories at any moment. Nothing is stored.

The formulas are the policy's: what is left of a memory is what the policy says, and its weight is the policy's score
for a cue that contributes nothing of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from math import inf
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q
from django.db.models.functions import Coalesce, Left, TruncDate

from memory.emotion import Depth, depth
from memory.models import Memory, Recalled
from memory.scoring import Policy, Remembered
from memory.scoring.policy import MAX_DAYS

MAX_LIVES = 5_000
TEXT_CHARACTERS = 200
POINTS = 120  # of a curve
EPSILON = timedelta(seconds=1)  # before a recall, at which the curve jumps


@dataclass(frozen=True, slots=True)
class Life:
    """A memory with all that a policy needs to score it at any moment; its recalls may lie in the future."""

    learnt_at: datetime
    happened_at: datetime
    id: UUID | None = None
    text: str = ""
    importance: int = 5
    joy: float = 0.0
    aversion: float = 0.0
    evidence: int = 1
    recalled_at: tuple[datetime, ...] = ()

    def at(self, now: datetime) -> Remembered:
        """Return what a policy would see at `now`, for a cue with a likeness of 1 and an average fit."""
        return Remembered.at(
            now,
            happened_at=self.happened_at,
            learnt_at=self.learnt_at,
            recalled_at=self.recalled_at,
            fit=0.0,
            likeness=1.0,
            importance=self.importance,
            joy=self.joy,
            aversion=self.aversion,
            evidence=self.evidence,
        )


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong a memory is at a moment: what is left of it, and its weight; None if it would not come to mind."""

    life: Life
    left: float
    weight: float | None
    recalls: int
    recalled_at: datetime | None

    @property
    def depth(self) -> Depth:
        return depth(self.recalls)


def rank_by_strength(lives: Sequence[Life], policy: Policy, now: datetime) -> list[Strength]:
    """Return how strong each of the memories would be at `now` under the policy, strongest first."""
    rows = [life.at(now) for life in lives]
    strengths = [
        Strength(
            life,
            policy.left(row),
            weight,
            row.recalls,
            max((at for at in life.recalled_at if at <= now), default=None),
        )
        for life, row, weight in zip(lives, rows, policy.score(rows), strict=True)
    ]

    def order(strength: Strength) -> tuple[float, float, float, str]:
        weight = -inf if strength.weight is None else strength.weight
        life = strength.life
        return (-round(strength.left, 9), -round(weight, 9), -life.happened_at.timestamp(), str(life.id))

    return sorted(strengths, key=order)


def draw_curve(life: Life, policy: Policy, now: datetime, days: float) -> list[tuple[float, float]]:
    """Return what is left of the memory over the next `days` days, as (day, share), with a jump at each recall."""
    end = now + timedelta(days=days)
    moments = {now + (end - now) * n / POINTS for n in range(POINTS + 1)}
    for at in life.recalled_at:
        if now <= at <= end:
            moments |= {max(at - EPSILON, now), at}
    return [((at - now) / timedelta(days=1), policy.left(life.at(at))) for at in sorted(moments)]


def half_life_days(policy: Policy) -> float | None:
    """Return after how many days half is left of a memory that is never recalled, or None if that is never."""

    def left(days: float) -> float:
        return policy.left(Remembered(fit=0.0, likeness=1.0, age_days=days, idle_days=days))

    half, early, late = left(0.0) / 2, 0.0, 1.0
    while left(late) > half:
        early, late = late, late * 2
        if late > MAX_DAYS:
            return None
    for _ in range(60):
        middle = (early + late) / 2
        early, late = (middle, late) if left(middle) > half else (early, middle)
    return late


def load_lives(companion_id: UUID) -> list[Life]:
    """Return at most 5,000 of the companion's open memories, those recalled or learnt last; one SQL query."""
    shown = Q(recalled__is_used=True)
    used = ArrayAgg("recalled__recall__at", filter=shown, default=[], order_by="recalled__recall__at")
    memories = (
        Memory.objects.of(companion_id).open().annotate(used_at=used, short=Left("text", TEXT_CHARACTERS))
    )
    rows = memories.order_by(Coalesce("recalled_at", "learnt_at").desc(), "pk").values_list(
        "learnt_at", "happened_at", "pk", "short", "importance", "joy", "aversion", "evidence", "used_at"
    )
    return [Life(*row[:-1], recalled_at=tuple(row[-1])) for row in rows[:MAX_LIVES]]


def count_recalls_by_day(companion_id: UUID, since: datetime, zone: tzinfo) -> dict[date, int]:
    """Return by day, in the zone, how many memories were used in replies since `since`; one SQL query."""
    used = Recalled.objects.of(companion_id).filter(is_used=True, recall__at__gte=since)
    days = used.order_by().values_list(TruncDate("recall__at", tzinfo=zone))
    return dict(days.annotate(count=Count("pk")))
