"""Recall: from a cue to ranked memories of one companion, each with its reasons. Looking changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID

import numpy as np

from memory.embedding.spaces import CueVector
from memory.errors import LimitError, OffsetError, VectorError, WidthError
from memory.models import Memory, Recall, Recalled
from memory.models.memory import MemoryQuerySet
from memory.recall.candidates import load_candidates
from memory.recall.everyday import everyday_likeness
from memory.recall.filters import EVERYTHING, MemoryFilter
from memory.recall.floor import apply_floor, measure_bearing
from memory.recall.packed_index import hash_term
from memory.recall.query import NOBODY, Names, parse_cue
from memory.recall.ranking import MAX_FOUND, rank
from memory.recall.relevance import measure_nearness, measure_relevance
from memory.recall.terms import terms
from memory.scoring import DEFAULT, Policy, by_name, in_mood
from memory.scoring.kith import Kith
from text.storable import storable

MAX_HITS = 2000
LEARNT = [kind for kind in Memory.Kind if kind not in {Memory.Kind.SAID, Memory.Kind.DIARY, Memory.Kind.GIST}]


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
    filters: MemoryFilter = EVERYTHING,
    offset: int = 0,
    policy: Policy | str = DEFAULT,
    mood: float = 0.0,
    by_itself: bool = False,
    by_content: bool = False,
) -> list[Found]:
    """At most `limit` (0 to 100) memories of the companion that the cue brings to mind, best first.

    `vector` is the cue's from `embed_cue`; without it words decide alone, by Kith's own policy. `names` are what "user"
    and "companion" are called. `zone` is the user's: "yesterday" in the cue is theirs. The score is the policy's
    (memory.scoring), where Kith's own knows the companion's `mood` (-1 to 1) and brings to mind sooner what felt alike.
    `filters` filters, and looks back as of a day. `offset` (0 to 100) skips the best so many: pages of one cue join
    without a gap while nothing is kept or corrected, up to the 100th memory; asked as of the same moment, in an order
    that no passing time touches.

    A `policy` given by its name is that with its own parameters. `by_itself` holds back what does not bear on the cue
    (memory.recall.floor), as nobody asked for it: then none may be a good answer. `by_content` looks at what each says
    alone, for pages and talks: not at who says it where, and by no policy.

    The reasons: `likeness` (cosine, or None), `words` (BM25 as a share of the cue's best), `matched` terms, `parts`
    (what the fit is the sum of, in standard deviations above the companion's average memory) and `factors` (what a score
    of Kith's own policy is multiplied by), and by itself `bearing` (how much it bears on the cue, 0 to 1). Three SQL
    queries, one more where something was recalled before. Raises LimitError, OffsetError, PolicyError, VectorError and
    WidthError.
    """
    if not 0 <= limit <= MAX_FOUND:
        raise LimitError(limit, MAX_FOUND)
    if not 0 <= offset <= MAX_FOUND:
        raise OffsetError(offset, MAX_FOUND)
    chosen, when = choose_policy(policy, mood, has_vector=vector is not None), filters.as_of or now
    understood = parse_cue(cue, when.astimezone(zone), names)
    if not limit or not (understood.terms or vector is not None):
        return []
    vector = normalise_cue(vector) if vector else None
    candidates = load_candidates(companion_id, filters, vector)
    relevant = measure_relevance(understood, candidates, by_content=by_content)
    floor = None
    if by_itself:
        everyday = everyday_likeness(vector) if vector else 0.0
        near = measure_nearness(understood.past_days, candidates.index.times)
        bearing = measure_bearing(understood, relevant.words, candidates, everyday, near)
        floor = apply_floor(bearing, relevant.fit, relevant.can_come, limit)
    page = slice(offset, offset + limit)
    ranked = rank(candidates, filters, relevant, None if by_content else chosen, when, page, floor)
    ids = [candidate.id for candidate in ranked]
    memories = Memory.objects.of(companion_id).defer("entry").in_bulk(ids)
    return [  # one may have been deleted a moment ago
        Found(memories[id], round(score, 4), reasons) for id, score, reasons in ranked if id in memories
    ]


def choose_policy(policy: Policy | str, mood: float, *, has_vector: bool) -> Policy:
    """Return the policy in that mood; where words decide alone it can be none but Kith's own."""
    named = by_name(policy) if isinstance(policy, str) else policy
    return in_mood(named if has_vector or isinstance(named, Kith) else by_name(DEFAULT), mood)


def normalise_cue(cue: CueVector) -> CueVector:
    """Return the cue's vector with length 1; raise WidthError or VectorError where it has none."""
    if cue.vector.shape != (cue.space.width,):
        raise WidthError(cue.space.model, cue.space.width, cue.vector.shape)
    length = float(np.linalg.norm(cue.vector))
    if not np.isfinite(length) or not length:
        raise VectorError
    return CueVector(cue.space, cue.vector / np.float32(length))


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
    """Store the recall with what it found, its ranks counted on from `offset`."""
    kept, *recalled = rows_of(companion_id, by, cue, found, now, milliseconds, reply_id, policy, offset)
    save_rows((kept, *recalled))
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
    """Return the rows of a recall that is still to be stored."""
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


def save_rows(rows: tuple[Recall, *tuple[Recalled, ...]]) -> None:
    """Insert what `rows_of` made."""
    kept, *recalled = rows
    Recall.objects.bulk_create([kept])
    Recalled.objects.bulk_create(recalled)


def search(companion_id: UUID, words: str, filters: MemoryFilter, now: datetime, zone: tzinfo) -> list[UUID]:
    """Return the ids of at most 2,000 memories that hold all the words, in any script, else those with the most.

    The newest first. `zone` is the user's: "yesterday" is theirs. One SQL query.
    """
    wanted = sorted({hash_term(term) for term in terms(words, now.astimezone(zone))})
    if not wanted:
        return []
    candidates = load_candidates(companion_id, filters)
    hits = np.count_nonzero(candidates.index.count_terms(wanted), axis=1) * candidates.may_come
    if not hits.any():
        return []
    return candidates.ids_of(np.flatnonzero(hits == hits.max())[::-1][:MAX_HITS])


def told(companion_id: UUID) -> MemoryQuerySet:
    """Return what models may be given of the companion's memories: nothing private, nothing from a hidden message."""
    mine = Memory.objects.of(companion_id).filter(is_private=False).exclude(message__is_hidden=True)
    return mine.select_related("message").defer("entry")
