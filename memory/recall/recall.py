"""Recall: from a cue to ranked memories of one companion, each with its reasons. Recalling changes nothing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from memory.embedding.spaces import CueVector, measure_everyday_likeness
from memory.errors import WidthError
from memory.models import Memory, Recall, Recalled
from memory.recall.candidates import EVERYTHING, CandidateSet, MemoryFilter, hash_term, load_candidates
from memory.recall.query import NOBODY, Cue, Names, parse_cue
from memory.recall.ranking import MAX_FOUND, Floor, Ranked, find_best, load_at, measure_floor, rank, take_best
from memory.recall.relevance import Relevance, measure_relevance
from memory.recall.traits import Trait, terms
from memory.scoring import DEFAULT, Policy, by_name, in_mood
from memory.scoring.policy import Kith
from text.strings import storable

MAX_HITS = 2000
MAX_NEAR_MISSES = 8
LEARNT = [kind for kind in Memory.Kind if kind not in Memory.MIRRORS]


@dataclass(frozen=True, slots=True)
class Found:
    """A recalled memory with its score and what the score is made of."""

    memory: Memory
    score: float
    reasons: dict[str, Any]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A memory (its id) that a recall did not bring into the prompt, and why.

    `bearing` is how much it bore on the cue, if that was too little, and `least` what was asked of it. `repeats` are the
    ids of the memories and messages that say the same; a repetition without them is one of what is always in mind.
    """

    memory_id: UUID
    reason: Recall.Omission
    bearing: float | None = None
    least: float | None = None
    repeats: tuple[UUID, ...] = ()

    def render(self) -> dict[str, Any]:
        """Return the row's JSON, without what is empty."""
        told = {"bearing": self.bearing, "least": self.least, "repeats": [str(id) for id in self.repeats]}
        given = {name: value for name, value in told.items() if value not in (None, [])}
        return {"memory": str(self.memory_id), "reason": self.reason.value, **given}


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
    parts: Sequence[str] = (),
    left_out: list[LeftOut] | None = None,
) -> list[Found]:
    """Return at most `limit` (0 to 100) memories of the companion that the cue brings to mind, best first.

    `vector` is the cue's from `embed_cue`; without it words alone decide, by Kith's own policy. `names` are what "user"
    and "companion" are called. `zone` is the user's, in which "yesterday" in the cue is read. `filters` filters, and
    looks back as of a day. `offset` (0 to 100) skips the best so many: pages of one cue join without a gap, up to the
    100th memory, while nothing is saved or corrected, if all are asked as of the same moment and the order does not
    depend on passing time.

    The score is the policy's (memory.scoring); Kith's own knows the companion's `mood` (-1 to 1) and prefers what felt
    alike. A `policy` given by its name has its default parameters. `by_itself` is for recalls that nobody asked for: it
    leaves out what does not bear on the cue (memory.recall.ranking), and may return nothing. `by_content` is for pages
    and talks: it ranks by what each says alone, not by who says it where, and without a policy. `parts` are sentences
    of the cue (memory.recall.query.split_cue, and embedded with it) that are searched for one by one as well; a memory
    gets the score and reasons of the one that it fits best. `left_out`, if given, takes the memories that nearly came
    `by_itself`.

    The reasons: `likeness` (cosine, or None), `words` (BM25 as a share of the highest possible), `matched` terms,
    `parts` (the summands of the fit, in standard deviations above the companion's average memory), `factors` (by which
    Kith's own policy multiplies the score) and, if `by_itself`, `bearing` (how much it bears on the cue, 0 to 1). Two SQL
    queries. Raise ValueError, PolicyError and WidthError.
    """
    if not 0 <= limit <= MAX_FOUND:
        raise ValueError(f"A recall gives 0 to {MAX_FOUND} memories, not {limit}.")
    if not 0 <= offset <= MAX_FOUND:
        raise ValueError(f"A recall can skip 0 to {MAX_FOUND} memories, not {offset}.")
    chosen = choose_policy(policy, mood, has_vector=vector is not None)
    asked_at = (filters.as_of or now).astimezone(zone)
    understood = parse_cue(cue, asked_at, names)
    if not limit or not (understood.terms or vector is not None):
        return []
    vector = normalise_cue(vector) if vector else None
    candidates = load_candidates(companion_id, filters, vector)
    scored_by = None if by_content else chosen
    every = [_Asked(understood, vector, candidates), *_ask_parts(parts, names, vector, candidates, asked_at)]
    found = []
    for asked in every:
        relevant = measure_relevance(asked.cue, asked.candidates, by_content=by_content)
        floor = None
        if by_itself:
            everyday = measure_everyday_likeness(asked.vector) if asked.vector else 0.0
            floor = measure_floor(asked.cue, relevant, asked.candidates, everyday, limit)
        found.append((asked, relevant, floor, find_best(asked.candidates, relevant, scored_by, floor)))
    loaded = load_at(candidates, filters, {place for *_, places in found for place in places})
    likeliest: dict[UUID, Ranked] = {}
    for asked, relevant, floor, places in found:
        for hit in rank(
            places, loaded, asked.candidates, relevant, scored_by, asked_at, offset + limit, floor
        ):
            id = hit.memory.pk
            if id not in likeliest or hit.score > likeliest[id].score:
                likeliest[id] = hit
    ranked = list(likeliest.values())
    if len(every) > 1:
        ranked.sort(key=lambda hit: -hit.score)
    if left_out is not None:
        floors = [(relevant, floor) for _, relevant, floor, _ in found if floor]
        left_out += _find_near_misses(candidates, floors, ranked[: offset + limit], offset + limit)
    return [
        Found(memory, round(score, 4), reasons) for memory, score, reasons in ranked[offset : offset + limit]
    ]


class _Asked(NamedTuple):
    """A cue, or one of its sentences, as it was understood; its vector, and the candidates compared with it."""

    cue: Cue
    vector: CueVector | None
    candidates: CandidateSet


def _ask_parts(
    parts: Iterable[str], names: Names, vector: CueVector | None, candidates: CandidateSet, asked_at: datetime
) -> Iterator[_Asked]:
    """Yield the sentences of a cue; if the cue has a vector, only those that have one as well."""
    for part in parts:
        cue = parse_cue(part, asked_at, names)
        if vector is None:
            yield _Asked(cue, None, candidates)
        elif part in vector.parts:
            means = CueVector(vector.space, vector.parts[part])
            yield _Asked(cue, means, candidates.compare_with_part(part))


def _find_near_misses(
    candidates: CandidateSet, floors: Sequence[tuple[Relevance, Floor]], came: Sequence[Ranked], most: int
) -> list[LeftOut]:
    """Return the memories that fit the cue, or a sentence of it, best among those that did not come.

    Questions and small talk, which never come by themselves, are left out.
    """
    if not floors:
        return []
    bearing = np.max([floor.bearing for _, floor in floors], axis=0)
    fit = np.max([np.where(found.can_come, found.fit, -np.inf) for found, _ in floors], axis=0)
    tells = candidates.index.traits & Trait.TELLS_NOTHING == 0
    came_ids = {hit.memory.pk for hit in came}
    nearest = take_best(fit, tells & candidates.may_come, MAX_NEAR_MISSES + len(came))
    misses = []
    for place, id in zip(nearest, candidates.ids_of(nearest), strict=True):
        floor = max((floor for _, floor in floors), key=lambda floor: float(floor.bearing[place]))
        if any(floor.is_above[place] for _, floor in floors):
            is_full = len(came) >= min(most, floor.limit)
            reason = Recall.Omission.RANK if is_full else Recall.Omission.POLICY
        else:
            reason = Recall.Omission.FLOOR if bearing[place] < floor.least else Recall.Omission.FIT
        if id not in came_ids:
            is_below = reason == Recall.Omission.FLOOR
            numbers = (round(float(bearing[place]), 3), floor.least) if is_below else (None, None)
            misses.append(LeftOut(id, reason, *numbers))
    return misses[:MAX_NEAR_MISSES]


def choose_policy(policy: Policy | str, mood: float, *, has_vector: bool) -> Policy:
    """Return the policy in this mood; without a vector, words alone decide, and it is always Kith's own."""
    named = by_name(policy) if isinstance(policy, str) else policy
    return in_mood(named if has_vector or isinstance(named, Kith) else by_name(DEFAULT), mood)


def normalise_cue(cue: CueVector) -> CueVector:
    """Return the cue with its vector scaled to length 1. Raise WidthError or ValueError if that is impossible."""
    if cue.vector.shape != (cue.space.width,):
        raise WidthError(cue.space.model, cue.space.width, cue.vector.shape)
    length = float(np.linalg.norm(cue.vector))
    if not np.isfinite(length) or not length:
        raise ValueError("The cue's vector must hold numbers, not all of them 0.")
    return replace(cue, vector=cue.vector / np.float32(length))


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
    left_out: Sequence[LeftOut] | None = None,
) -> Recall:
    """Store the recall with what it found, in ranks that are counted on from `offset`, and with what was left out."""
    kept = Recall.objects.create(
        companion_id=companion_id,
        by=by,
        cue=storable(cue),
        at=now,
        milliseconds=milliseconds,
        reply_id=reply_id,
        policy=policy,
        left_out=None if left_out is None else [omission.render() for omission in left_out],
    )
    Recalled.objects.bulk_create(
        Recalled(recall=kept, memory=hit.memory, rank=rank, score=hit.score, reasons=hit.reasons)
        for rank, hit in enumerate(found, start=offset + 1)
    )
    return kept


def search(companion_id: UUID, words: str, filters: MemoryFilter, now: datetime, zone: tzinfo) -> list[UUID]:
    """Return the ids of at most 2,000 memories that have all the words, in any script, or else the most; newest first.

    `zone` is the user's, in which "yesterday" is read. One SQL query.
    """
    wanted = sorted({hash_term(term) for term in terms(words, now.astimezone(zone))})
    if not wanted:
        return []
    candidates = load_candidates(companion_id, filters)
    hits = np.count_nonzero(candidates.index.count_terms(wanted), axis=1) * candidates.may_come
    if not hits.any():
        return []
    return candidates.ids_of(np.flatnonzero(hits == hits.max())[::-1][:MAX_HITS])
