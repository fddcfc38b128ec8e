"""From what fits to what comes to mind: the best, looked at closely, held apart, and scored by a policy."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.among import Among
from memory.floor import Floor
from memory.held import Held
from memory.models import Memory, Recalled
from memory.policies import Policy, Remembered
from memory.policies.kith import Kith
from memory.prepared import ONE, SOME, THEN, filled
from memory.reading import read
from memory.relevance import Relevance
from memory.stages import Stages

# So many are looked at closely, however few are wanted: a longer list begins with the shorter one.
MOST_FOUND = 100
PINNED = 0.5  # in standard deviations: decides between equals, never lifts what does not fit
SPREAD = 1.0  # what a memory loses where the next to it was picked before: it says much the same


class Look(NamedTuple):
    """What is read of a memory to look at it closely: without its text."""

    pk: UUID
    is_pinned: bool
    happened_at: datetime
    learnt_at: datetime
    importance: int
    joy: float
    aversion: float
    evidence: int
    times_recalled: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that is looked at closely: its place in the order of time, and its fit among those picked before it."""

    id: UUID
    place: int
    is_pinned: bool
    fit: float
    row: Remembered


@dataclass(frozen=True, slots=True)
class Picked:
    """A candidate with its score by the policy, and the reasons for it."""

    candidate: Candidate
    score: float
    reasons: dict[str, Any]


def pick(
    held: Held,
    among: Among,
    found: Relevance,
    policy: Policy,
    now: datetime,
    page: slice,
    stages: Stages,
    floor: Floor | None = None,
) -> list[Picked]:
    """This page of what comes to mind, best first; two SQL queries, one where nothing was recalled before.

    Those that there are `among`: some may be gone since they were looked at. With a floor only what is above it.
    """
    values = found.fit if isinstance(policy, Kith) else np.nan_to_num(held.likeness, nan=-np.inf)
    places = best(values, floor.is_above if floor else found.can_come, MOST_FOUND)
    looks = _looked_at(held, places, among)
    fits = {place: float(found.fit[place]) + PINNED * look.is_pinned for place, look in looks.items()}
    if stages.spread:
        fits = spread(fits, found.around.talks)
    rows = _rows(looks, fits, held, now)
    candidates = [
        Candidate(looks[place].pk, place, looks[place].is_pinned, fit, rows[place])
        for place, fit in fits.items()
    ]
    scored = _scored(candidates, policy, stages)[page][: floor.limit if floor else None]
    return [Picked(one, score, reasons(one, found, policy, floor)) for one, score in scored]


def best(values: NDArray[np.float64], can_come: NDArray[np.bool_], most: int) -> list[int]:
    """The places of the highest values that can come to mind, best first."""
    values = np.where(can_come, values, -np.inf)
    top = np.argpartition(-values, most)[:most] if most < len(values) else np.arange(len(values))
    return [int(place) for place in top[np.argsort(-values[top], kind="stable")] if values[place] > -np.inf]


def spread(fits: dict[int, float], talks: NDArray[np.int64]) -> dict[int, float]:
    """The fits in the order of picking: whoever stands next to one that is picked already is held back."""
    places = sorted(fits)
    at, left = {place: n for n, place in enumerate(places)}, np.array([fits[place] for place in places])
    picked: dict[int, float] = {}
    for _ in places:
        best_left = int(np.argmax(left))
        place = places[best_left]
        picked[place], left[best_left] = float(left[best_left]), -np.inf
        for other in (place - 1, place + 1):
            if other in at and talks[other] == talks[place]:
                left[at[other]] -= SPREAD
    return picked


def _looked_at(held: Held, places: list[int], among: Among) -> dict[int, Look]:
    """What is looked at in those of the memories that still are there, and still hold."""
    at = dict(zip(held.ids_of(places), places, strict=True))
    sql, parameters = _looking(among.with_private, among.as_of is not None)
    rows = read(sql, filled(parameters, {ONE: held.companion_id, SOME: list(at), THEN: among.as_of}))
    return {at[look.pk]: look for look in map(Look._make, rows)}


@cache
def _looking(with_private: bool, looks_back: bool) -> tuple[str, tuple[Any, ...]]:
    """The statement, and its parameters with stand-ins."""
    among = Among(with_private=with_private, as_of=THEN if looks_back else None)
    some = among.there(Memory.objects.of(ONE)).filter(id__any_of=SOME).order_by()
    return some.values_list(*Look._fields).query.sql_with_params()


def _rows(looks: dict[int, Look], fits: dict[int, float], held: Held, now: datetime) -> dict[int, Remembered]:
    """What the policy looks at in each."""
    used = _used(held.companion_id, [look.pk for look in looks.values() if look.times_recalled])
    return {place: _row(look, fits[place], held.likeness[place], used, now) for place, look in looks.items()}


def _row(
    look: Look, fit: float, likeness: float, used: dict[UUID, list[datetime]], now: datetime
) -> Remembered:
    return Remembered.at(
        now,
        happened_at=look.happened_at,
        learnt_at=look.learnt_at,
        recalled_at=used.get(look.pk, ()),
        fit=fit,
        likeness=None if np.isnan(likeness) else float(likeness),
        importance=look.importance,
        joy=look.joy,
        aversion=look.aversion,
        evidence=look.evidence,
    )


def _used(companion_id: UUID, ids: list[UUID]) -> dict[UUID, list[datetime]]:
    """When each of the memories was shown in a reply."""
    times: dict[UUID, list[datetime]] = defaultdict(list)
    if ids:
        events = Recalled.objects.of(companion_id).filter(memory__in=ids, is_used=True)
        for id, at in events.values_list("memory_id", "recall__at"):
            times[id].append(at)
    return times


def _scored(candidates: Sequence[Candidate], policy: Policy, stages: Stages) -> list[tuple[Candidate, float]]:
    """The candidates that the policy lets come to mind, each with its score, best first."""
    rows = [one.row for one in candidates]
    scores = policy.score(rows) if stages.policy else [row.fit for row in rows]
    pairs = zip(candidates, scores, strict=True)
    scored = [(one, score) for one, score in pairs if score is not None]
    return sorted(scored, key=lambda pair: (-pair[1], -pair[0].fit, pair[0].id))


def reasons(one: Candidate, found: Relevance, policy: Policy, floor: Floor | None = None) -> dict[str, Any]:
    """In numbers: `likeness`, `words`, `matched` terms, `parts`, `factors` and `bearing`, as memory.recall tells."""
    parts = {name: round(float(values[one.place]), 3) for name, values in found.parts.items()}
    if one.is_pinned:
        parts["pinned"] = PINNED
    if held_back := round(one.fit - sum(parts.values()), 3):
        parts["spread"] = held_back
    factors = policy.factors(one.row) if isinstance(policy, Kith) else {}
    return {
        "likeness": None if one.row.likeness is None else round(one.row.likeness, 4),
        "words": round(found.words.share(one.place), 4),
        "matched": found.words.matched(one.place),
        "parts": {name: value for name, value in parts.items() if value},
        "factors": {name: round(value, 3) for name, value in factors.items()},
        **({"bearing": round(float(floor.bearing[one.place]), 3)} if floor else {}),
    }
