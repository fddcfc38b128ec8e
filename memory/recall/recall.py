"""Recall: from a cue to ranked memories of one companion, each with its reasons; flashbacks, which come unasked; and
where memories come from, so that no two of them say the same thing in one prompt.

Recalling changes nothing. All randomness is passed in, so that a seed decides.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, FloatField, OuterRef, Q
from django.db.models.functions import Coalesce, Greatest, JSONObject, Length

from memory.embedding.spaces import CueVector, measure_everyday_likeness
from memory.emotion import MOVED
from memory.errors import LimitError, OffsetError, VectorError, WidthError
from memory.learning.sincerity import GAME_LINES, is_in_game
from memory.models import Change, Memory, Page, Recall, Recalled
from memory.models.memory import MemoryQuerySet
from memory.recall.candidates import EVERYTHING, CandidateSet, MemoryFilter, hash_term, load_candidates
from memory.recall.query import NOBODY, Cue, Names, parse_cue
from memory.recall.ranking import (
    MAX_FOUND,
    Candidate,
    find_best,
    look_at,
    measure_floor,
    measure_relevance,
    rank,
)
from memory.recall.traits import DENIAL, terms
from memory.scoring import DEFAULT, Policy, Remembered, by_name, in_mood
from memory.scoring.policy import DAY, Kith, days_between, require, retention
from text.strings import folded, storable

MAX_HITS = 2000
FLASHBACK_PROBABILITY = 0.05
JOY_WEIGHT = 1.5
AVERSION_WEIGHT = 2.0  # what hurt comes back unasked more often than what pleased
MAX_FLASHBACK_CANDIDATES = 25  # with feelings, and as many that were not recalled for long
MIN_FLASHBACK_CHARACTERS = 12  # "Good night." is nothing to come back to,
MAX_FLASHBACK_CHARACTERS = 400  # and nobody recalls a whole page in a flash
GAME_TIME = timedelta(hours=8)  # a game lasts no longer than a session
LEARNT = [kind for kind in Memory.Kind if kind not in Memory.MIRRORS]


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
    parts: Sequence[str] = (),
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
    gets the score and reasons of the one that it fits best.

    The reasons: `likeness` (cosine, or None), `words` (BM25 as a share of the highest possible), `matched` terms,
    `parts` (the summands of the fit, in standard deviations above the companion's average memory), `factors` (by which
    Kith's own policy multiplies the score) and, if `by_itself`, `bearing` (how much it bears on the cue, 0 to 1). Three
    SQL queries. Raises LimitError, OffsetError, PolicyError, VectorError and WidthError.
    """
    if not 0 <= limit <= MAX_FOUND:
        raise LimitError(limit, MAX_FOUND)
    if not 0 <= offset <= MAX_FOUND:
        raise OffsetError(offset, MAX_FOUND)
    chosen, when = choose_policy(policy, mood, has_vector=vector is not None), filters.as_of or now
    asked_at = when.astimezone(zone)
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
    looked_at = look_at(candidates, filters, {place for *_, places in found for place in places})
    best: dict[UUID, Candidate] = {}
    for asked, relevant, floor, places in found:
        for candidate in rank(
            places, looked_at, asked.candidates, relevant, scored_by, when, offset + limit, floor
        ):
            if candidate.id not in best or candidate.score > best[candidate.id].score:
                best[candidate.id] = candidate
    ranked = list(best.values())
    if len(every) > 1:
        ranked.sort(key=lambda candidate: -candidate.score)
    ids = [candidate.id for candidate in ranked[offset : offset + limit]]
    memories = Memory.objects.of(companion_id).defer("entry").in_bulk(ids)
    return [  # a memory may have been deleted a moment ago
        Found(memories[id], round(best[id].score, 4), best[id].reasons) for id in ids if id in memories
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


def choose_policy(policy: Policy | str, mood: float, *, has_vector: bool) -> Policy:
    """Return the policy in this mood; without a vector, words alone decide, and it is always Kith's own."""
    named = by_name(policy) if isinstance(policy, str) else policy
    return in_mood(named if has_vector or isinstance(named, Kith) else by_name(DEFAULT), mood)


def normalise_cue(cue: CueVector) -> CueVector:
    """Return the cue with its vector scaled to length 1. Raise WidthError or VectorError if that is impossible."""
    if cue.vector.shape != (cue.space.width,):
        raise WidthError(cue.space.model, cue.space.width, cue.vector.shape)
    length = float(np.linalg.norm(cue.vector))
    if not np.isfinite(length) or not length:
        raise VectorError
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
) -> Recall:
    """Store the recall with what it found, in ranks that are counted on from `offset`."""
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


def list_visible_to_models(companion_id: UUID) -> MemoryQuerySet:
    """Return the companion's memories that models may see: none that is private or mirrors a hidden message."""
    mine = Memory.objects.of(companion_id).filter(is_private=False).exclude(message__is_hidden=True)
    return mine.select_related("message").defer("entry")


# -- flashbacks: what comes to mind unasked


def is_flashback_due(chance: Random, probability: float = FLASHBACK_PROBABILITY) -> bool:
    """Return whether a flashback comes to mind this time; takes one number from `chance`.

    Raise ValueError for a probability outside of 0 to 1.
    """
    require("probability", probability, 0, 1)
    return chance.random() < probability


def find_flashback(companion_id: UUID, filters: MemoryFilter, chance: Random, now: datetime) -> Found | None:
    """Return a memory of the companion that comes to mind unasked, or None if there is none; one SQL query.

    It is one with the strongest feelings, or one recalled (or learnt) longest ago, but over a day. It has 12 to 400
    characters, and is none that the filters leave out, that is closed or whose message is hidden. The same `chance`
    draws the same from the same memories. Its score is 0, as there is no cue; its reasons say `flashback`.
    """
    memories = filters.apply(Memory.objects.of(companion_id)).exclude(message__is_hidden=True).defer("entry")
    fitting = memories.annotate(
        length=Length("text"),
        feeling=Greatest("joy", "aversion", output_field=FloatField()),
        last=Coalesce("recalled_at", "learnt_at"),
    ).filter(length__gte=MIN_FLASHBACK_CHARACTERS, length__lte=MAX_FLASHBACK_CHARACTERS)
    felt = fitting.filter(feeling__gt=MOVED).order_by("-feeling", "pk")[:MAX_FLASHBACK_CANDIDATES]
    idle = fitting.filter(last__lt=now - DAY).order_by("last", "pk")[:MAX_FLASHBACK_CANDIDATES]
    candidates = {memory.pk: memory for memory in felt.union(idle)}
    rows = {
        memory.pk: Remembered(
            fit=0,
            likeness=None,
            age_days=days_between(memory.happened_at, now),
            idle_days=days_between(memory.recalled_at or memory.learnt_at, now),
            recalls=memory.times_recalled,
            joy=memory.joy,
            aversion=memory.aversion,
        )
        for memory in candidates.values()
    }
    drawn = draw_flashback(rows, chance)
    return Found(candidates[drawn], 0.0, {"flashback": True}) if drawn else None


def draw_flashback(candidates: Mapping[UUID, Remembered], chance: Random) -> UUID | None:
    """Return one of the candidates, drawn by weight, or None if there is none.

    The same seed and candidates draw the same, whatever the order of the candidates.
    """
    ids = sorted(candidates)
    return chance.choices(ids, [weigh_flashback(candidates[id]) for id in ids])[0] if ids else None


def weigh_flashback(row: Remembered) -> float:
    """Return the weight of a candidate: its retention, times up to 4.5 for its feelings; relevance plays no part."""
    return retention(row) * (1 + JOY_WEIGHT * row.joy + AVERSION_WEIGHT * row.aversion)


# -- where recalled memories come from, and which of them repeat what stands in the prompt

SUMMARIES = (Memory.Kind.DIARY, Memory.Kind.GIST, Memory.Kind.INSIGHT)  # they sum up much and repeat nothing


@dataclass(frozen=True, slots=True)
class Origins:
    """Where some recalled memories come from, by their ids.

    `sources` are the messages behind what was learnt. A line is the memory of a message: `outdated` are the lines from
    which something was learnt that has been replaced, and `partly` those of them from which other things were learnt
    that still hold; `played` are lines from which nothing learnt holds, and that may belong to a game or a story.
    `pages` are the document's title and the page's number of each gist.
    """

    sources: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)
    outdated: frozenset[UUID] = frozenset()
    partly: frozenset[UUID] = frozenset()
    pages: Mapping[UUID, tuple[str, int]] = field(default_factory=dict)
    played: frozenset[UUID] = frozenset()


NOWHERE = Origins()


def load_origins(companion_id: UUID, memories: Sequence[Memory]) -> Origins:
    """Return where these memories of the companion come from: one query, one more if gists are among them, and one more
    if there are lines from which nothing learnt holds.

    A merge by a consolidation run does not make lines outdated.
    """
    if not memories:
        return NOWHERE
    said = {memory.message_id: memory.pk for memory in memories if memory.message_id}
    learnt = {memory.pk for memory in memories if not memory.message_id}
    mine = Change.objects.filter(companion=companion_id, kind=Change.Kind.MERGED, undone_at=None)
    merged = mine.filter(others=OuterRef("memory"))
    drawn = Memory.sources.through.objects.filter(memory__companion=companion_id, memory__is_asleep=False)
    rows = (
        drawn.filter(Q(message__in=said) | Q(memory__in=learnt))
        .annotate(is_merged=Exists(merged))
        .values_list("memory", "message", "memory__closed_at", "memory__replaced_by", "is_merged")  # type: ignore[misc]
    )
    sources: dict[UUID, set[UUID]] = defaultdict(set)
    # By line: what replaced the things learnt from it, and the things learnt from it that still hold.
    replaced_by: dict[UUID, set[UUID]] = defaultdict(set)
    holding: dict[UUID, set[UUID]] = defaultdict(set)
    for memory_id, message_id, closed_at, replacement, is_merged in rows:
        if memory_id in learnt:
            sources[memory_id].add(message_id)
        line = said.get(message_id)
        if line and closed_at is None:
            holding[line].add(memory_id)
        elif line and replacement and not is_merged:
            replaced_by[line].add(replacement)
    gists = [memory.pk for memory in memories if memory.kind == Memory.Kind.GIST]
    pages = Page.objects.filter(document__companion=companion_id, memory__in=gists)
    titled = pages.values_list("memory", "document__title", "number") if gists else ()
    return Origins(
        {id: frozenset(ids) for id, ids in sources.items()},
        frozenset(replaced_by),
        frozenset(line for line, replacements in replaced_by.items() if holding[line] - replacements),
        {id: (title, number) for id, title, number in titled if id},
        _find_played(companion_id, [line for line in said.values() if not holding[line]]),
    )


def _find_played(companion_id: UUID, lines: Sequence[UUID]) -> frozenset[UUID]:
    """Return which of the lines, by their ids, may belong to a game or a story, by what was said before each."""
    if not lines:
        return frozenset()
    happened_at = OuterRef("happened_at")
    said = Memory.objects.of(companion_id).filter(kind=Memory.Kind.SAID).order_by("-happened_at", "-id")
    before = said.filter(happened_at__range=(happened_at - GAME_TIME, happened_at)).filter(
        Q(happened_at__lt=happened_at) | Q(id__lte=OuterRef("id"))
    )
    line = before.values(line=JSONObject(text="text", speaker="speaker"))
    newest = ArraySubquery(line[: GAME_LINES + 1])
    rows = Memory.objects.of(companion_id).filter(pk__in=lines).order_by().values_list("pk", newest)
    return frozenset(
        id
        for id, told in rows
        if is_in_game([(one["text"], one["speaker"] == Memory.Speaker.USER) for one in told[::-1]])
    )


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text says, as far as words tell: its terms, and how often it denies something."""

    words: frozenset[str]
    denials: int

    @classmethod
    def of(cls, text: str) -> "Statement":
        return cls(frozenset(terms(text)), len(DENIAL.findall(folded(text))))

    def is_within(self, other: "Statement") -> bool:
        """Return whether the other statement says all that this one says, and denies as much."""
        return self.words <= other.words and self.denials == other.denials


def drop_repetitions(
    found: Sequence[Found], origins: Origins, messages: Collection[UUID], texts: Iterable[str]
) -> list[Found]:
    """Return the found memories, in their order, without those that repeat what stands in the prompt or each other.

    `messages` (ids) and `texts` stand in the prompt. A memory is dropped if one of the texts says all of it, and a
    learnt one, unless it is an insight, also if all messages behind it stand there. Of a learnt memory and a line that
    it was learnt from, one is dropped if the other has all of its cue terms: the line, if they have the same, or the
    later, if they have none. Of memories with the same words the first stays, unless the two speakers said them.
    """
    in_prompt = [Statement.of(text) for text in texts]
    kept: list[tuple[Found, Statement]] = []
    for hit in found:
        sources = origins.sources.get(hit.memory.pk, frozenset())
        if sources and sources <= set(messages) and hit.memory.kind not in SUMMARIES:
            continue
        statement = Statement.of(hit.memory.text)
        if any(statement.is_within(other) for other in in_prompt):
            continue
        if not any(
            statement == other and len({hit.memory.speaker, before.memory.speaker} - {""}) < 2
            for before, other in kept
        ):
            kept.append((hit, statement))
    return _drop_pairs([hit for hit, _ in kept], origins)


def _drop_pairs(found: Sequence[Found], origins: Origins) -> list[Found]:
    """Return the found memories without lines whose cue terms the memories learnt from them have too, or vice versa."""
    place = {hit.memory.pk: number for number, hit in enumerate(found)}
    lines = {hit.memory.message_id: hit for hit in found if hit.memory.message_id}
    learnt: dict[UUID, list[Found]] = defaultdict(list)
    for hit in found:
        if hit.memory.kind not in SUMMARIES:
            for message_id in origins.sources.get(hit.memory.pk, frozenset()) & lines.keys():
                learnt[message_id].append(hit)
    dropped: set[UUID] = set()
    for message_id, facts in learnt.items():
        line = lines[message_id]
        is_told = _matched(line) <= _matched(*facts)
        is_first = place[line.memory.pk] < min(place[fact.memory.pk] for fact in facts)
        if is_told and (_matched(*facts) or not is_first):
            dropped.add(line.memory.pk)
        else:
            dropped |= {fact.memory.pk for fact in facts if _matched(fact) <= _matched(line)}
    return [hit for hit in found if hit.memory.pk not in dropped]


def _matched(*found: Found) -> set[str]:
    """Return the terms of the cue that these memories have."""
    return {term for hit in found for term in hit.reasons.get("matched") or ()}
