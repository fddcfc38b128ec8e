"""What forgetting and recalling would make of memories at any moment. Nothing is stored, and no formula is its own.

What is left of a memory is what its policy says (memory.policies.Policy.left), what it weighs is the policy's score for
a cue that brings nothing of its own, and feelings move by memory.emotion and memory.mood.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from math import inf
from typing import NamedTuple, Self
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q
from django.db.models.functions import Coalesce, Left, TruncDate

from memory.emotion import Depth, Feeling, Reaction, depth, reaction_to
from memory.models import Memory, Recalled
from memory.mood import Felt, mood
from memory.policies import Policy, Remembered
from memory.policies.remembered import MOST_DAYS

MOST_LIVES = 5_000
TEXT_CHARACTERS = 200
POINTS = 120  # of a curve
UNASKED = "unasked"  # how a memory is taken that came of itself
UNMOVED = Feeling()
EPSILON = timedelta(seconds=1)  # before a recall, where the curve jumps


class Again(NamedTuple):
    """A recall that is only thought of: when, and how it is taken: a Reaction, UNASKED, or "" as the mood has it."""

    at: datetime
    how: str = ""


@dataclass(frozen=True, slots=True)
class Life:
    """A memory with all that a policy looks at, to be asked about at any moment; `again` is what is only thought of."""

    learnt_at: datetime
    happened_at: datetime
    id: UUID | None = None
    text: str = ""
    importance: int = 5
    feeling: Feeling = UNMOVED
    evidence: int = 1
    recalled_at: tuple[datetime, ...] = ()
    again: tuple[tuple[datetime, Feeling], ...] = ()

    @classmethod
    def fresh(cls, now: datetime) -> Self:
        """A memory like any other, learnt this moment and never recalled."""
        return cls(learnt_at=now, happened_at=now)

    def at(self, now: datetime) -> Remembered:
        """What a policy would look at then, for a cue that fits as well as one can and no better than the average."""
        feeling = self.felt_at(now)
        return Remembered.at(
            now,
            happened_at=self.happened_at,
            learnt_at=self.learnt_at,
            recalled_at=(*self.recalled_at, *(at for at, _ in self.again)),
            fit=0.0,
            likeness=1.0,
            importance=self.importance,
            joy=feeling.joy,
            aversion=feeling.aversion,
            evidence=self.evidence,
        )

    def felt_at(self, now: datetime) -> Feeling:
        """How it would feel then."""
        return next((feeling for at, feeling in reversed(self.again) if at <= now), self.feeling)

    def last_recalled_at(self, now: datetime) -> datetime | None:
        """When it would have been recalled last, if ever."""
        return max(
            (at for at in (*self.recalled_at, *(at for at, _ in self.again)) if at <= now), default=None
        )


def recalled_again(life: Life, recalls: Iterable[Again], felt: Sequence[Felt]) -> tuple[Life, list[Felt]]:
    """The life with these recalls as well, and all that would have been felt; each is taken as memory.emotion says."""
    every = list(felt)
    for at, how in sorted(recalls):
        before = life.felt_at(at)
        if how == UNASKED:
            after = before.stirred()
        else:
            after = before.after(Reaction(how) if how else reaction_to(mood(every, at)))
        life = replace(life, again=(*life.again, (at, after)))
        every.append(Felt(at, after.joy, after.aversion))
    return life, every


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong a memory is at a moment: what is left of it, and what it weighs; None where it would not come at all."""

    life: Life
    left: float
    weight: float | None
    recalls: int
    recalled_at: datetime | None

    @property
    def depth(self) -> Depth:
        return depth(self.recalls)


def strengths(lives: Sequence[Life], policy: Policy, now: datetime) -> list[Strength]:
    """All of them as they would be then under that policy, the strongest first."""
    rows = [life.at(now) for life in lives]
    every = [
        Strength(life, policy.left(row), weight, row.recalls, life.last_recalled_at(now))
        for life, row, weight in zip(lives, rows, policy.score(rows), strict=True)
    ]
    return sorted(every, key=_order)


def _order(one: Strength) -> tuple[float, float, float, str]:
    weight = -inf if one.weight is None else one.weight
    return (-round(one.left, 9), -round(weight, 9), -one.life.happened_at.timestamp(), str(one.life.id))


def curve(life: Life, policy: Policy, now: datetime, days: float) -> list[tuple[float, float]]:
    """What is left of it over so many days from now on: pairs of days and shares, with a jump at each recall."""
    end = now + timedelta(days=days)
    moments = {now + (end - now) * n / POINTS for n in range(POINTS + 1)}
    for at, _ in life.again:
        if now <= at <= end:
            moments |= {max(at - EPSILON, now), at}
    return [((at - now) / timedelta(days=1), policy.left(life.at(at))) for at in sorted(moments)]


def half_life_days(policy: Policy) -> float | None:
    """After how many days half is left of a memory that is never recalled; None where that is never."""

    def left(days: float) -> float:
        return policy.left(Remembered(fit=0.0, likeness=1.0, age_days=days, idle_days=days))

    half, early, late = left(0.0) / 2, 0.0, 1.0
    while left(late) > half:
        early, late = late, late * 2
        if late > MOST_DAYS:
            return None
    for _ in range(60):
        middle = (early + late) / 2
        early, late = (middle, late) if left(middle) > half else (early, middle)
    return late


def lives(companion_id: UUID) -> list[Life]:
    """The companion's open memories, at most 5,000: those that were recalled or learnt last; one SQL query."""
    used = ArrayAgg(
        "recalled__recall__at", filter=Q(recalled__is_used=True), default=[], order_by="recalled__recall__at"
    )
    rows = (
        Memory.objects.of(companion_id)
        .open()
        .annotate(used_at=used, short=Left("text", TEXT_CHARACTERS))
        .order_by(Coalesce("recalled_at", "learnt_at").desc(), "pk")
        .values_list(
            "pk", "short", "happened_at", "learnt_at", "importance", "joy", "aversion", "evidence", "used_at"
        )
    )
    return [
        Life(learnt, happened, pk, text, importance, Feeling(joy, aversion), evidence, tuple(used_at))
        for pk, text, happened, learnt, importance, joy, aversion, evidence, used_at in rows[:MOST_LIVES]
    ]


def felt_since(companion_id: UUID, since: datetime) -> list[Felt]:
    """What the companion was given to remember in replies since then, with the feelings it has now; one SQL query."""
    used = (
        Recalled.objects.of(companion_id).filter(is_used=True, recall__at__gte=since).order_by("recall__at")
    )
    return [Felt(*row) for row in used.values_list("recall__at", "memory__joy", "memory__aversion")]


def moods(
    felt: Sequence[Felt], since: datetime, now: datetime, every: timedelta
) -> list[tuple[datetime, float]]:
    """The mood that those made, from -1 to 1, at moments so far apart."""
    reach = timedelta(days=2)  # of what is older less than a share of 1/65,000 is left
    ordered = sorted(felt)
    sampled: list[tuple[datetime, float]] = []
    first = last = 0
    for n in range(int((now - since) / every) + 1):
        at = since + n * every
        while last < len(ordered) and ordered[last].at <= at:
            last += 1
        while first < last and ordered[first].at < at - reach:
            first += 1
        sampled.append((at, mood(ordered[first:last], at)))
    return sampled


def recalls_by_day(companion_id: UUID, since: datetime, zone: tzinfo) -> dict[date, int]:
    """How many memories replies were given on each day of that zone since then; one SQL query."""
    used = (
        Recalled.objects.of(companion_id).filter(is_used=True, recall__at__gte=since).order_by("recall__at")
    )
    counted = (
        used.values(day=TruncDate("recall__at", tzinfo=zone)).annotate(count=Count("pk")).order_by("day")
    )
    return {row["day"]: row["count"] for row in counted}
