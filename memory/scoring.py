"""How a recall orders what it found. Computed when read: nothing of it is stored but with the recall itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from memory.candidates import Candidate
from memory.speakers import meant
from memory.terms import is_question

NEIGHBOURS = 0.5, 0.25  # what a memory lends to the next and the next but one: its question finds an answer
CONVERSATION = timedelta(hours=1)  # what lies further apart lends nothing
# In standard deviations, half of one each: enough to decide between equals, never to lift what does not fit.
SPEAKER = 0.5
QUESTION = -0.5
PINNED = 0.5


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's id, its score in standard deviations above the average memory, and the reasons for it."""

    id: UUID
    score: float
    reasons: dict[str, Any]


def rank(cue: str, candidates: Sequence[Candidate]) -> list[Scored]:
    """The candidates, best first."""
    asked_of = meant(cue)
    by_meaning = _places(candidates, lambda one: one.likeness)
    by_words = _places(candidates, lambda one: one.words or None)
    at = {one.place: one for one in candidates}
    scored = []
    for one in candidates:
        added = {name: value for name, value in _added(one, at, asked_of).items() if value}
        if one.likeness is None and not one.words and "near" not in added:
            continue
        ranks = {"meaning_rank": by_meaning.get(one.id), "words_rank": by_words.get(one.id)}
        score = round(one.fit + sum(added.values()), 4)
        scored.append(Scored(one.id, score, _likeness(one) | ranks | {"matched": one.matched} | added))
    return sorted(scored, key=lambda one: (-one.score, one.id))


def _added(one: Candidate, at: Mapping[int, Candidate], asked_of: str) -> dict[str, float]:
    """What is added for neighbours that fit, for the speaker who is meant, for a pin, and against a question."""
    return {
        "near": round(_near(one, at), 4),
        "speaker": SPEAKER if asked_of and one.speaker == asked_of else 0,
        "question": QUESTION if is_question(one.ending) else 0,
        "pinned": PINNED if one.is_pinned else 0,
    }


def _near(one: Candidate, at: Mapping[int, Candidate]) -> float:
    """What the neighbours in the talk lend, those that fit better than the average."""
    lent = 0.0
    for step, share in enumerate(NEIGHBOURS, start=1):
        for place in (one.place - step, one.place + step):
            other = at.get(place)
            if other and other.fit > 0 and abs(other.happened_at - one.happened_at) <= CONVERSATION:
                lent += share * other.fit
    return lent


def _places(candidates: Sequence[Candidate], value: Callable[[Candidate], float | None]) -> dict[UUID, int]:
    """The place of each from 1 by that value; those without it have none."""
    valued = [(-given, one.id) for one in candidates if (given := value(one)) is not None]
    return {id: place for place, (_, id) in enumerate(sorted(valued), start=1)}


def _likeness(one: Candidate) -> dict[str, Any]:
    return {
        "likeness": None if one.likeness is None else round(one.likeness, 4),
        "words": round(one.words, 4),
    }
