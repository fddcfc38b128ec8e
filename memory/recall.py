"""Recall: from a cue to ranked memories of one companion, each with its reasons. Looking changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

import numpy as np

from memory.among import EVERYTHING, Among
from memory.cue import NOBODY, Cue, Names, read
from memory.errors import LimitError, OffsetError, VectorError, WidthError
from memory.everyday import everyday_likeness
from memory.floor import Floor, apply_floor, measure_bearing
from memory.held import Held, held
from memory.models import Memory, Recall, Recalled
from memory.picking import MOST_FOUND, Picked, pick
from memory.policies import DEFAULT, Policy, by_name, in_mood
from memory.policies.kith import Kith
from memory.prepared import ONE, SOME, Prepared
from memory.relevance import Relevance, near_days, relevance
from memory.spaces import CueVector
from memory.stages import ALL, Stages
from memory.text import storable
from memory.writing import insert

WHOLE = Prepared(lambda: Memory.objects.of(ONE).filter(id__any_of=SOME).defer("entry").order_by())


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
    vector: CueVector | None = None,
    names: Names = NOBODY,
    among: Among = EVERYTHING,
    offset: int = 0,
    policy: Policy | str = DEFAULT,
    mood: float = 0.0,
    stages: Stages = ALL,
    looked: Held | None = None,
    by_itself: bool = False,
) -> list[Found]:
    """At most `limit` (0 to 100) memories of the companion that the cue brings to mind, best first.

    `vector` is the cue's from `embed_cue`; without it words decide alone, by Kith's own policy. `names` are what "user"
    and "companion" are called. `zone` is the user's: "yesterday" in the cue is theirs. The score is the policy's
    (memory.policies), where Kith's own knows the companion's `mood` (-1 to 1) and brings to mind sooner what felt alike.
    `among` filters, and looks back as of a day. `offset` (0 to 100) skips the best so many: pages of one cue join
    without a gap while nothing is kept or corrected, up to the 100th memory; asked as of the same moment, in an order
    that no passing time touches.

    A `policy` given by its name is that with its own parameters. `by_itself` holds back what does not bear on the cue
    (memory.floor), as nobody asked for it: then none may be a good answer.

    The reasons: `likeness` (cosine, or None), `words` (BM25 as a share of the cue's best), `matched` terms, `parts`
    (what the fit is the sum of, in standard deviations above the companion's average memory, see memory.relevance) and
    `factors` (what a score of Kith's own policy is multiplied by), and by itself `bearing` (how much it bears on the cue,
    0 to 1). Four SQL queries, one more where messages are left out, one more where something was recalled before; two
    less where `looked` is given, what memory.held gave for this vector a moment ago. Raises LimitError, OffsetError,
    PolicyError, VectorError and WidthError.
    """
    if not 0 <= limit <= MOST_FOUND:
        raise LimitError(limit, MOST_FOUND)
    if not 0 <= offset <= MOST_FOUND:
        raise OffsetError(offset, MOST_FOUND)
    chosen, when = _chosen(policy, mood, has_vector=vector is not None), among.as_of or now
    understood = read(cue, when.astimezone(zone), names)
    if not limit or not (understood.terms or vector is not None):
        return []
    checked = _checked(vector)
    mine = held(companion_id, among, checked) if looked is None else looked
    mine = mine.without(among.left_out(companion_id))
    page = slice(offset, offset + limit)
    relevant = relevance(understood, mine, stages)
    floor = _floor(understood, mine, relevant, checked, limit) if by_itself else None
    picked = pick(mine, among, relevant, chosen, when, page, stages, floor)
    return _found(companion_id, picked)


def record(
    companion_id: UUID,
    by: str,
    cue: str,
    found: Sequence[Found],
    now: datetime,
    milliseconds: int,
    reply_id: UUID | None = None,
    policy: str = DEFAULT,
    offset: int = 0,
) -> Recall:
    """Store the recall with what it found, its ranks counted on from `offset`; one query."""
    kept, *recalled = rows_of(companion_id, by, cue, found, now, milliseconds, reply_id, policy, offset)
    insert(kept, *recalled)
    return kept


def rows_of(
    companion_id: UUID,
    by: str,
    cue: str,
    found: Sequence[Found],
    now: datetime,
    milliseconds: int,
    reply_id: UUID | None = None,
    policy: str = DEFAULT,
    offset: int = 0,
) -> tuple[Recall, *tuple[Recalled, ...]]:
    """The same as rows, for who has others to write with them in one query."""
    kept = Recall(
        companion_id=companion_id,
        by=by,
        cue=storable(cue),
        at=now,
        milliseconds=milliseconds,
        reply_id=reply_id,
        policy=policy,
    )
    recalled = (
        Recalled(recall=kept, memory=one.memory, rank=n, score=one.score, reasons=one.reasons)
        for n, one in enumerate(found, start=offset + 1)
    )
    return kept, *recalled


def _floor(cue: Cue, mine: Held, relevant: Relevance, vector: CueVector | None, limit: int) -> Floor:
    everyday = everyday_likeness(vector) if vector else 0.0
    near = near_days(cue.past_days, mine)
    bearing = measure_bearing(cue, relevant.words, mine, everyday, near)
    return apply_floor(bearing, relevant.fit, relevant.can_come, limit)


def _chosen(policy: Policy | str, mood: float, *, has_vector: bool) -> Policy:
    """The policy in that mood; where words decide alone it can be none but Kith's own."""
    named = by_name(policy) if isinstance(policy, str) else policy
    return in_mood(named if has_vector or isinstance(named, Kith) else by_name(DEFAULT), mood)


def _checked(cue: CueVector | None) -> CueVector | None:
    """The cue's vector with length 1."""
    if cue is None:
        return None
    if cue.vector.shape != (cue.space.width,):
        raise WidthError(cue.space.model, cue.space.width, cue.vector.shape)
    length = float(np.linalg.norm(cue.vector))
    if not np.isfinite(length) or not length:
        raise VectorError
    return CueVector(cue.space, cue.vector / np.float32(length))


def _found(companion_id: UUID, picked: Sequence[Picked]) -> list[Found]:
    ids = [one.candidate.id for one in picked]
    memories = {one.pk: one for one in WHOLE({ONE: companion_id, SOME: ids})}
    return [
        Found(memories[one.candidate.id], round(one.score, 4), one.reasons)
        for one in picked
        if one.candidate.id in memories  # it may have been deleted a moment ago
    ]
