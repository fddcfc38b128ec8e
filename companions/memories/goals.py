"""Goals and ideas of a companion, as its person lists, adds and changes them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from companions.errors import PursuitError
from companions.models import Companion
from database.journal import everywhere
from memory.goals import PURSUED, begin_goal, update_goal
from memory.models import Memory, Pursuit

MAX_DEPTH = 4  # levels by which a part is indented at most
MAX_PARENTS = 100
CIRCLE = _("A goal cannot be part of itself or of one of its own parts.")
NO_GOAL = _("It can only be part of another goal of the same companion.")
RANKS = {Pursuit.Status.UNDER_WAY: 0, Pursuit.Status.NEW: 1, Pursuit.Status.DONE: 2}


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal in the tree, with the number of levels by which it is indented."""

    pursuit: Pursuit
    depth: int


def load_pursuits(companion: Companion) -> QuerySet[Pursuit]:
    """Return the companion's goals and ideas whose memory is open, each with its memory and parent."""
    mine = Pursuit.objects.filter(companion=companion, memory__kind__in=PURSUED, memory__closed_at=None)
    return mine.select_related("memory", "parent").defer("memory__entry", "parent__entry")


def load_pursued(companion: Companion) -> QuerySet[Memory]:
    """Return the open memories of goals and ideas, with their pursuits. What the companion knows of its person's own has
    no pursuit, unless the person added it.
    """
    mine = Memory.objects.of(companion.pk).open().filter(kind__in=PURSUED)
    return mine.select_related("pursuit__parent").defer("entry", "pursuit__parent__entry")


def build_tree(goals: Iterable[Pursuit]) -> list[Goal]:
    """Return each goal once, followed by its parts. Siblings are sorted by status (under way, new, done, given up),
    then newest first.
    """
    ordered = sorted(goals, key=_order)
    there = {pursuit.memory_id for pursuit in ordered}
    parts = defaultdict(list)
    for pursuit in ordered:
        parts[pursuit.parent_id if pursuit.parent_id in there else None].append(pursuit)
    placed: list[Goal] = []
    waiting = [Goal(pursuit, 0) for pursuit in reversed(parts[None])]
    while waiting:
        goal = waiting.pop()
        placed.append(goal)
        below = reversed(parts.get(goal.pursuit.memory_id, ()))
        waiting += [Goal(pursuit, min(goal.depth + 1, MAX_DEPTH)) for pursuit in below]
    # Goals that are parts of each other in a circle have no root.
    known = {goal.pursuit.memory_id for goal in placed}
    return placed + [Goal(pursuit, 0) for pursuit in ordered if pursuit.memory_id not in known]


def _order(pursuit: Pursuit) -> tuple[int, float, int]:
    return RANKS.get(Pursuit.Status(pursuit.status), 3), -pursuit.memory.learnt_at.timestamp(), pursuit.pk


def sort_ideas(ideas: Iterable[Pursuit]) -> list[Pursuit]:
    """Return the ideas, most exciting first, those that are done or given up last."""
    return sorted(ideas, key=lambda idea: (idea.status in Pursuit.ENDED, -idea.excitement, *_order(idea)))


@everywhere()
def add(companion: Companion, kind: Memory.Kind, text: str, now: datetime) -> Pursuit:
    """Create a goal or an idea that the person adds."""
    companion.lock()
    return begin_goal(companion.pk, kind, text, now, [], companion.user.zone, Pursuit.Origin.PERSON)


@everywhere()
def update(companion: Companion, memory_id: UUID, changes: Mapping[str, Any], now: datetime) -> Pursuit:
    """Change the status, progress or excitement of a goal or idea, or the goal that it is a part of (`parent_id`).

    Raise Pursuit.DoesNotExist or PursuitError.
    """
    companion.lock()
    pursuit = load_pursuits(companion).get(memory=memory_id)
    if "parent_id" in changes:
        pursuit.parent = _find_parent(companion, pursuit, changes["parent_id"])
        pursuit.save(update_fields=["parent"])
    update_goal(pursuit, now, **{name: value for name, value in changes.items() if name != "parent_id"})
    return pursuit


def _find_parent(companion: Companion, pursuit: Pursuit, parent_id: UUID | None) -> Memory | None:
    """Return the parent's memory. Raise PursuitError if either is no goal, or if the goals would form a circle."""
    if parent_id is None:
        return None
    goals = load_pursuits(companion).filter(memory__kind=Memory.Kind.GOAL)
    parent = goals.filter(memory=parent_id).first()
    if parent is None or pursuit.memory.kind != Memory.Kind.GOAL:
        raise PursuitError("no_such_goal", NO_GOAL)
    parents = dict(goals.values_list("memory", "parent"))
    above: list[UUID] = []
    at: UUID | None = parent.memory_id
    while at is not None and at not in above and len(above) <= MAX_PARENTS:
        above.append(at)
        at = parents.get(at)
    if pursuit.memory_id in above:
        raise PursuitError("circle", CIRCLE)
    return parent.memory
