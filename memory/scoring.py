"""How a recall orders what it found: meaning and words joined, then bounded factors. Computed when read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.candidates import Candidate
from memory.terms import is_question

WORDS = 0.5
PINNED = 1.1
QUESTION = 0.9


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's id, its score and the reasons for it."""

    id: UUID
    score: float
    reasons: dict[str, Any]


def rank(cue: str, candidates: Sequence[Candidate]) -> list[Scored]:
    """The candidates, best first."""
    by_meaning = _ranks(candidates, lambda one: one.likeness)
    by_words = _ranks(candidates, lambda one: one.words or None)
    scored = [
        Scored(one.id, score, _reasons(one, by_meaning.get(one.id), by_words.get(one.id)))
        for one in candidates
        for score in [_score(one)]
    ]
    return sorted(scored, key=lambda one: (-one.score, one.id))


def _ranks(candidates: Sequence[Candidate], value: Callable[[Candidate], float | None]) -> dict[UUID, int]:
    """The place of each from 1 by that value; those without it have none."""
    valued = [(-given, one.id) for one in candidates if (given := value(one)) is not None]
    return {id: place for place, (_, id) in enumerate(sorted(valued), start=1)}


def _score(one: Candidate) -> float:
    meaning = max(one.likeness or 0, 0)
    score = meaning + WORDS * one.words
    return score * (PINNED if one.is_pinned else 1) * (QUESTION if is_question(one.ending) else 1)


def _reasons(one: Candidate, meaning_rank: int | None, words_rank: int | None) -> dict[str, Any]:
    return {
        "likeness": None if one.likeness is None else round(one.likeness, 4),
        "words": round(one.words, 4),
        "meaning_rank": meaning_rank,
        "words_rank": words_rank,
        "matched": one.matched,
    }
