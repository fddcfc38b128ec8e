"""How a recall orders what it found. Computed when read: nothing of it is stored but with the recall itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.candidates import Candidate
from memory.speakers import meant
from memory.terms import is_question

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
    scored = []
    for one in candidates:
        extras = _extras(one, asked_of)
        ranks = {"meaning_rank": by_meaning.get(one.id), "words_rank": by_words.get(one.id)}
        score = round(one.own + one.near + sum(extras.values()), 4)
        scored.append(Scored(one.id, score, _likeness(one) | ranks | {"matched": one.matched} | extras))
    return sorted(scored, key=lambda one: (-one.score, one.id))


def _places(candidates: Sequence[Candidate], value: Callable[[Candidate], float | None]) -> dict[UUID, int]:
    """The place of each from 1 by that value; those without it have none."""
    valued = [(-given, one.id) for one in candidates if (given := value(one)) is not None]
    return {id: place for place, (_, id) in enumerate(sorted(valued), start=1)}


def _extras(one: Candidate, asked_of: str) -> dict[str, float]:
    """What is added for the speaker who is meant, for a pin, and against a question, which holds no answer."""
    extras = {
        "speaker": SPEAKER if asked_of and one.speaker == asked_of else 0,
        "question": QUESTION if is_question(one.ending) else 0,
        "pinned": PINNED if one.is_pinned else 0,
    }
    return {name: value for name, value in extras.items() if value}


def _likeness(one: Candidate) -> dict[str, Any]:
    return {
        "likeness": None if one.likeness is None else round(one.likeness, 4),
        "words": round(one.words, 4),
        "near": round(one.near, 4),
    }
