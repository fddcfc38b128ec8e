"""From what fits to what comes to mind: the best, looked at closely, held apart, and scored by a policy."""

from collections import defaultdict
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.models import Memory, Recalled
from memory.recall.candidates import CandidateSet
from memory.recall.filters import MemoryFilter
from memory.recall.floor import Floor
from memory.recall.neighbours import Talks, Values
from memory.recall.relevance import Relevance
from memory.scoring import Policy, Remembered
from memory.scoring.kith import Kith

# So many are looked at closely, however few are wanted: a longer list begins with the shorter one.
MAX_FOUND = 100
PINNED = 0.5  # in standard deviations: decides between equals, never lifts what does not fit
DIVERSITY = 1.0  # what a memory loses where the next to it was picked before: it says much the same


class Details(NamedTuple):
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


class Candidate(NamedTuple):
    """A memory that comes to mind, its score by the policy, and why."""

    id: UUID
    score: float
    reasons: dict[str, Any]


def rank(
    candidates: CandidateSet,
    filters: MemoryFilter,
    found: Relevance,
    policy: Policy | None,
    now: datetime,
    page: slice,
    floor: Floor | None = None,
) -> list[Candidate]:
    """Return this page of what comes to mind, best first; two SQL queries, one where nothing was recalled before.

    Without a policy what fits best comes first. With a floor only what is above it.
    """
    by_fit = policy is None or isinstance(policy, Kith)
    values = found.fit if by_fit else np.nan_to_num(candidates.likeness, nan=-np.inf)
    places = best(values, floor.is_above if floor else found.can_come, MAX_FOUND)
    details = _load_details(candidates, places, filters)
    fits = {place: float(found.fit[place]) + PINNED * row.is_pinned for place, row in details.items()}
    fits = diversify(fits, found.talks)
    used = _load_uses(candidates.companion_id, [row.pk for row in details.values() if row.times_recalled])
    rows = {
        place: Remembered.at(
            now,
            happened_at=details[place].happened_at,
            learnt_at=details[place].learnt_at,
            recalled_at=used.get(details[place].pk, ()),
            fit=fit,
            likeness=None if np.isnan(candidates.likeness[place]) else float(candidates.likeness[place]),
            importance=details[place].importance,
            joy=details[place].joy,
            aversion=details[place].aversion,
            evidence=details[place].evidence,
        )
        for place, fit in fits.items()
    }
    scores = policy.score(list(rows.values())) if policy else list(fits.values())
    scored = [(place, score) for place, score in zip(rows, scores, strict=True) if score is not None]
    scored.sort(key=lambda pair: (-pair[1], -fits[pair[0]], details[pair[0]].pk))
    ranked = []
    for place, score in scored[page][: floor.limit if floor else None]:
        reasons = explain(place, rows[place], found, policy, floor, is_pinned=details[place].is_pinned)
        ranked.append(Candidate(details[place].pk, score, reasons))
    return ranked


def best(values: Values, can_come: NDArray[np.bool_], most: int) -> list[int]:
    """Return the places of the highest values that can come to mind, best first."""
    values = np.where(can_come, values, -np.inf)
    top = np.argpartition(-values, most)[:most] if most < len(values) else np.arange(len(values))
    return [int(place) for place in top[np.argsort(-values[top], kind="stable")] if values[place] > -np.inf]


def diversify(fits: dict[int, float], talks: Talks) -> dict[int, float]:
    """Return the fits in the order of picking: whoever stands next to one that is picked already is held back."""
    left, picked = dict(sorted(fits.items())), {}
    while left:
        place = max(left, key=lambda place: left[place])
        picked[place] = left.pop(place)
        for other in (place - 1, place + 1):
            if other in left and talks[other] == talks[place]:
                left[other] -= DIVERSITY
    return picked


def explain(
    place: int,
    row: Remembered,
    found: Relevance,
    policy: Policy | None,
    floor: Floor | None,
    *,
    is_pinned: bool,
) -> dict[str, Any]:
    """Return why a memory came, in numbers: what memory.recall.recall tells."""
    parts = {name: round(float(values[place]), 3) for name, values in found.parts.items()}
    if is_pinned:
        parts["pinned"] = PINNED
    if held_back := round(row.fit - sum(parts.values()), 3):
        parts["spread"] = held_back
    factors = policy.factors(row) if isinstance(policy, Kith) else {}
    return {
        "likeness": None if row.likeness is None else round(row.likeness, 4),
        "words": round(found.words.share(place), 4),
        "matched": found.words.matched(place),
        "parts": {name: value for name, value in parts.items() if value},
        "factors": {name: round(value, 3) for name, value in factors.items()},
        **({"bearing": round(float(floor.bearing[place]), 3)} if floor else {}),
    }


def _load_details(candidates: CandidateSet, places: list[int], filters: MemoryFilter) -> dict[int, Details]:
    """Return what is looked at in those of the memories that are still there."""
    at = dict(zip(candidates.ids_of(places), places, strict=True))
    there = filters.narrow(Memory.objects.of(candidates.companion_id)).filter(pk__in=at).order_by()
    return {at[row[0]]: Details(*row) for row in there.values_list(*Details._fields)}


def _load_uses(companion_id: UUID, ids: list[UUID]) -> dict[UUID, list[datetime]]:
    """Return when each of the memories was shown in a reply."""
    times: dict[UUID, list[datetime]] = defaultdict(list)
    if ids:
        events = Recalled.objects.of(companion_id).filter(memory__in=ids, is_used=True)
        for id, at in events.values_list("memory_id", "recall__at"):
            times[id].append(at)
    return times
