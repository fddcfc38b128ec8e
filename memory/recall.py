"""Recall: from a cue to ranked memories of one companion, each with its reasons. Looking changes nothing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

from django.db import transaction

from memory.candidates import candidates
from memory.models import Memory, Recall, Recalled
from memory.scoring import Scored, rank
from memory.terms import terms
from memory.text import ends, storable
from providers.vectors import Floats

MOST_FOUND = 100
POOL = 50  # how many are looked at closely where fewer are wanted
MOST_CUE_TERMS = 64  # of a pasted page the first and the last: often a question stands at its end


@dataclass(frozen=True, slots=True)
class Found:
    """A recalled memory with its score and what the score is made of."""

    memory: Memory
    score: float
    reasons: dict[str, Any]


def recall(
    companion_id: UUID,
    cue: str,
    limit: int,
    *,
    now: datetime,
    zone: tzinfo,
    vector: Floats | None = None,
    leaving_out: Collection[UUID] = (),
    leaving_out_memories: Collection[UUID] = (),
    as_of: datetime | None = None,
) -> list[Found]:
    """At most `limit` (1 to 100) memories of the companion that the cue brings to mind, best first; two SQL queries.

    `vector` is the cue's from `embed_cue`; without it words decide alone. `leaving_out` are ids of messages.
    `as_of` looks back: what had happened by then, and had not been closed by then. `zone` is the user's: "yesterday"
    in the cue is theirs. The score counts standard deviations above the companion's average memory. The reasons:
    `likeness` (cosine, or None), `words` (BM25 as a share of the cue's best), their ranks from 1 or None, `matched`
    terms, `near` (what the neighbours in the talk lend), and `speaker`, `question`, `pinned` where they count.
    """
    when = (as_of or now).astimezone(zone)
    cue_terms = ends(list(dict.fromkeys(terms(cue, when))), MOST_CUE_TERMS)
    if not cue_terms and vector is None:
        return []
    limit = min(max(limit, 1), MOST_FOUND)
    left_out = [*leaving_out, *leaving_out_memories]
    near = candidates(companion_id, cue_terms, vector, left_out, as_of, most=max(limit, POOL))
    ranked = rank(cue, near)[:limit]
    return _with_memories(companion_id, ranked)


def record(
    companion_id: UUID,
    by: str,
    cue: str,
    found: Sequence[Found],
    now: datetime,
    milliseconds: int,
    reply_id: UUID | None = None,
) -> Recall:
    """Store the recall with what it found."""
    with transaction.atomic():
        kept = Recall.objects.create(
            companion_id=companion_id,
            by=by,
            cue=storable(cue),
            at=now,
            milliseconds=milliseconds,
            reply_id=reply_id,
        )
        Recalled.objects.bulk_create(
            Recalled(recall=kept, memory=one.memory, rank=n, score=one.score, reasons=one.reasons)
            for n, one in enumerate(found, start=1)
        )
    return kept


def _with_memories(companion_id: UUID, ranked: Sequence[Scored]) -> list[Found]:
    every = Memory.objects.of(companion_id).select_related("message").defer("terms")
    memories = every.in_bulk([one.id for one in ranked])
    return [
        Found(memory=memories[one.id], score=one.score, reasons=one.reasons)
        for one in ranked
        if one.id in memories  # it may have been deleted a moment ago
    ]
