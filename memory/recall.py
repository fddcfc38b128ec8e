"""Recall: from a cue to ranked memories of one companion, each with its reasons. Looking changes nothing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import prefetch_related_objects

from memory.cue import NOBODY, Names, read
from memory.embedding import serving_space
from memory.errors import LimitError, VectorError, WidthError
from memory.held import held
from memory.models import Memory, Recall, Recalled, Space
from memory.models.memory import MemoryQuerySet
from memory.picking import Picked, pick
from memory.policies import DEFAULT, by_name
from memory.relevance import relevance
from memory.stages import ALL, Stages
from memory.text import storable
from providers.vectors import Floats

MOST_FOUND = 100
POOL = 50  # how many are looked at closely where fewer are wanted


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
    names: Names = NOBODY,
    leaving_out: Collection[UUID] = (),
    leaving_out_memories: Collection[UUID] = (),
    as_of: datetime | None = None,
    policy: str = DEFAULT,
    stages: Stages = ALL,
) -> list[Found]:
    """At most `limit` (0 to 100) memories of the companion that the cue brings to mind, best first.

    `vector` is the cue's from `embed_cue`; without it words decide alone. `names` are what "user" and "companion" are
    called. `leaving_out` are ids of messages. `as_of` looks back: what had happened by then, and had not been closed
    by then. `zone` is the user's: "yesterday" in the cue is theirs. The score is the policy's (memory.policies).

    The reasons: `likeness` (cosine, or None), `words` (BM25 as a share of the cue's best), `matched` terms, `parts`
    (what the fit is the sum of, in standard deviations above the companion's average memory, see memory.relevance) and
    `factors` (what a score of Kith's own policy is multiplied by). Four SQL queries, five where something was recalled
    before. Raises LimitError, PolicyError, VectorError and WidthError.
    """
    if not 0 <= limit <= MOST_FOUND:
        raise LimitError(limit, MOST_FOUND)
    chosen = by_name(policy)
    understood = read(cue, (as_of or now).astimezone(zone), names)
    if not limit or not (understood.terms or vector is not None):
        return []
    space = serving_space()
    checked = _checked(vector, space)
    memories = _among(companion_id, leaving_out, leaving_out_memories, as_of)
    mine = held(memories, companion_id, space, checked)
    fitting = relevance(understood, mine, stages)
    picked = pick(mine, fitting, chosen, as_of or now, max(limit, POOL), stages)[:limit]
    return _found(picked)


def record(
    companion_id: UUID,
    by: str,
    cue: str,
    found: Sequence[Found],
    now: datetime,
    milliseconds: int,
    reply_id: UUID | None = None,
    policy: str = DEFAULT,
) -> Recall:
    """Store the recall with what it found."""
    with transaction.atomic(savepoint=False):
        kept = Recall.objects.create(
            companion_id=companion_id,
            by=by,
            cue=storable(cue),
            at=now,
            milliseconds=milliseconds,
            reply_id=reply_id,
            policy=policy,
        )
        Recalled.objects.bulk_create(
            Recalled(recall=kept, memory=one.memory, rank=n, score=one.score, reasons=one.reasons)
            for n, one in enumerate(found, start=1)
        )
    return kept


def _checked(vector: Floats | None, space: Space | None) -> Floats | None:
    """The vector with length 1; None where there is nothing to compare it with."""
    if vector is None or space is None:
        return None
    if vector.shape != (space.width,):
        raise WidthError(space.model, space.width, vector.shape)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or not length:
        raise VectorError
    return vector / np.float32(length)


def _among(
    companion_id: UUID, messages: Collection[UUID], memories: Collection[UUID], as_of: datetime | None
) -> MemoryQuerySet:
    every = Memory.objects.of(companion_id)
    every = every.as_of(as_of) if as_of else every.open()
    return every.leaving_out(messages, memories)


def _found(picked: Sequence[Picked]) -> list[Found]:
    prefetch_related_objects([one.candidate.memory for one in picked], "message")
    return [Found(one.candidate.memory, round(one.score, 4), one.reasons) for one in picked]
