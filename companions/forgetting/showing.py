"""What the page shows: the memories by strength, a curve, and what would come to mind, under one rule and another."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import Http404
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from companions.cues import vector_of
from companions.forgetting.asking import FURTHEST_DAYS, HOW, AheadForm, PolicyForm, Thought
from companions.forgetting.drawing import HEIGHT, WIDTH, across, as_percent, points, up
from companions.models import Companion
from memory.emotion import Depth, Feeling, reaction_to
from memory.mood import Felt, mood
from memory.policies import Policy
from memory.projection import (
    Again,
    Life,
    Strength,
    curve,
    half_life_days,
    recalled_again,
    strengths,
)
from memory.recall import Found, recall

PAGE = 20
YEAR_DAYS = 365
SPANS = (30, 90, YEAR_DAYS, FURTHEST_DAYS)  # days that a curve may show
DEPTHS: dict[Depth, tuple[Promise, Promise]] = {
    Depth.SHORT_TERM: (_("short-term"), _("never recalled")),
    Depth.WORKING: (_("working"), _("recalled 1 to 4 times")),
    Depth.LONG_TERM: (_("long-term"), _("from 5 times on")),
    Depth.MUSCLE: (_("second nature"), _("from 40 times on")),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in the list: its rank and strength under the rule that is looked at, and under the present one."""

    rank: int
    strength: Strength
    rank_before: int
    left_before: float
    highest: float

    @property
    def rises(self) -> int:
        """By how many ranks; below 0 it falls."""
        return self.rank_before - self.rank

    @property
    def depth(self) -> Promise:
        return DEPTHS[self.strength.depth][0]

    @property
    def left(self) -> str:
        return as_percent(self.strength.left)

    @property
    def bar(self) -> str:
        return f"{100 * self.strength.left / self.highest:.1f}%"

    @property
    def bar_before(self) -> str:
        return f"{100 * self.left_before / self.highest:.1f}%"


@dataclass(frozen=True, slots=True)
class Chart:
    """A curve over so many days, drawn beside that of the present rule where it is another."""

    days: float
    line: str
    line_before: str
    highest: int
    half_life_days: float | None
    half_x: str
    half_y: str
    middle: float
    at_x: str
    again: list[tuple[str, str]]
    left: str


@dataclass(frozen=True, slots=True)
class Comes:
    """A memory that a cue brings to mind under the rule looked at; None where the present rule does not bring it."""

    found: Found
    rank: int
    rank_before: int | None

    @property
    def rises(self) -> int:
        return (self.rank_before or 0) - self.rank


@dataclass
class Shown:
    """All that the page shows for what was asked; nothing of it is stored."""

    companion: Companion
    now: datetime
    present: Policy
    chosen: PolicyForm
    ahead: AheadForm
    every: list[Life]
    felt: list[Felt]
    _felt_then: list[Felt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.asked: dict[str, Any] = self.ahead.cleaned_data
        self.life, self._felt_then = recalled_again(
            self._looked_at(self.asked["memory"]), self._again(), self.felt
        )

    @property
    def policy(self) -> Policy:
        return self.chosen.built

    @property
    def is_other(self) -> bool:
        """Whether the rule or one of its numbers is not the present one."""
        return self.policy != self.present

    @property
    def then(self) -> datetime:
        return self.now + timedelta(days=self.asked["days"])

    @cached_property
    def query(self) -> str:
        """What is asked, as it is now, for a link that asks for one thing more."""
        asked = {"policy": self.chosen.policy} | {one.name: one.value for one in self.chosen.sliders}
        asked |= {"days": self.asked["days"], "memory": str(self.life.id or ""), "how": self.asked["how"]}
        return urlencode(asked | {"recalled": self.ahead.recalled_as_sent, "cue": self.asked["cue"]})

    @property
    def furthest(self) -> int:
        """Where the slider of days ends: a year ahead, further only where more was asked for."""
        return FURTHEST_DAYS if self.asked["days"] > YEAR_DAYS else YEAR_DAYS

    @property
    def thoughts(self) -> list[Thought]:
        return list(self.asked["recalled"])

    def _looked_at(self, id: UUID | None) -> Life:
        if id is None:
            return Life.fresh(self.now)
        life = next((life for life in self.every if life.id == id), None)
        if life is None:
            raise Http404
        return life

    def _again(self) -> list[Again]:
        return [Again(self.now + timedelta(days=one.days), one.how) for one in self.thoughts]

    @cached_property
    def mood(self) -> float:
        """The mood that it would be in then."""
        return mood((one for one in self._felt_then if one.at <= self.then), self.then)

    @cached_property
    def strength(self) -> Strength:
        """Of the memory that is looked at."""
        return strengths([self.life], self.policy, self.then)[0]

    @cached_property
    def feeling(self) -> Feeling:
        """How the memory that is looked at would feel then."""
        return self.life.felt_at(self.then)

    @property
    def mood_name(self) -> str:
        """What the mood would make of a recall then."""
        return str(reaction_to(self.mood).label)

    @property
    def told(self) -> list[tuple[int, str]]:
        """The recalls that are thought of: in how many days, and how they are taken."""
        return [(one.days, str(dict(HOW)[one.how])) for one in self.thoughts]

    @cached_property
    def _ranked(self) -> list[Strength]:
        return strengths(self._lives, self.policy, self.then)

    @property
    def _lives(self) -> list[Life]:
        """All, with the recalls thought of for the one that is looked at."""
        return [self.life if one.id == self.life.id else one for one in self.every]

    @cached_property
    def _before(self) -> dict[UUID | None, tuple[int, float]]:
        ranked = strengths(self._lives, self.present, self.then) if self.is_other else self._ranked
        return {one.life.id: (rank, one.left) for rank, one in enumerate(ranked, 1)}

    @cached_property
    def page(self) -> int:
        return min(self.asked["page"] or 1, self.pages)

    @property
    def pages(self) -> int:
        return max(1, -(-len(self.every) // PAGE))

    @cached_property
    def lines(self) -> list[Line]:
        begin = (self.page - 1) * PAGE
        shown = enumerate(self._ranked[begin : begin + PAGE], begin + 1)
        shares = [one.left for one in self._ranked] + [left for _, left in self._before.values()]
        highest = max(1.0, *shares) if shares else 1.0
        return [Line(rank, one, *self._before[one.life.id], highest) for rank, one in shown]

    @cached_property
    def moved(self) -> tuple[int, int]:
        """How many memories rise, and how many fall, where the rule is another."""
        by = [self._before[one.life.id][0] - rank for rank, one in enumerate(self._ranked, 1)]
        return sum(n > 0 for n in by), sum(n < 0 for n in by)

    @cached_property
    def depths(self) -> list[tuple[Promise, Promise, int]]:
        """What each depth is called, when a memory sits so deep, and how many do."""
        counted = Counter(one.depth for one in self._ranked)
        return [(name, when, counted[depth]) for depth, (name, when) in DEPTHS.items()]

    @property
    def depth(self) -> Promise:
        """How deep the memory that is looked at would sit."""
        return DEPTHS[self.strength.depth][0]

    @cached_property
    def chart(self) -> Chart:
        span = next(days for days in SPANS if days > self.asked["days"] or days == SPANS[-1])
        drawn = curve(self.life, self.policy, self.now, span)
        before = curve(self.life, self.present, self.now, span) if self.is_other else []
        highest = 2 if max(share for _, share in drawn + before) > 1 else 1
        half = half_life_days(self.policy)
        recalls = [(day, self.policy.left(self.life.at(at))) for day, at in self._days_of_recalls(span)]
        return Chart(
            days=span,
            line=points(drawn, span, 0, highest),
            line_before=points(before, span, 0, highest),
            highest=highest,
            half_life_days=half and round(half, 1),
            half_x=across(half, span) if half is not None and half <= span else "",
            half_y=up(0.5, 0, highest),
            middle=span / 2,
            at_x=across(self.asked["days"], span),
            again=[(across(day, span), up(share, 0, highest)) for day, share in recalls],
            left=as_percent(self.strength.left),
        )

    def _days_of_recalls(self, span: float) -> list[tuple[float, datetime]]:
        return [(one.days, self.now + timedelta(days=one.days)) for one in self.thoughts if one.days <= span]

    @cached_property
    def comes(self) -> list[Comes]:
        """What the cue would bring to mind then under the rule that is looked at."""
        before = {one.memory.pk: rank for rank, one in enumerate(self.came, 1)}
        found = self._found(self.policy) if self.is_other else self.came
        return [Comes(one, rank, before.get(one.memory.pk)) for rank, one in enumerate(found, 1)]

    @cached_property
    def came(self) -> list[Found]:
        """The same under the present rule."""
        return self._found(self.present) if self.asked["cue"] else []

    @cached_property
    def gone(self) -> set[UUID]:
        """What only the present rule brings to mind."""
        return {one.memory.pk for one in self.came} - {one.found.memory.pk for one in self.comes}

    @cached_property
    def _vector(self) -> Any:
        return vector_of(self.companion, self.asked["cue"], timezone.now())

    def _found(self, policy: Policy) -> list[Found]:
        """Looking changes nothing, and is not recorded."""
        if not self.asked["cue"]:
            return []
        return recall(
            self.companion.pk,
            self.asked["cue"],
            settings.RECALL_LIMIT,
            now=self.then,
            zone=self.companion.user.zone,
            vector=self._vector,
            names=self.companion.names,
            policy=policy,
            mood=self.mood,
        )

    box = (WIDTH, HEIGHT)
