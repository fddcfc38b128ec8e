"""Recall: from a cue to ranked memories of one companion, each with its reasons; what comes to mind unasked; and where
memories come from, so that no two of them say the same thing in one prompt.

Looking changes nothing. All chance is passed in, so a seed decides.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db.models import Exists, FloatField, OuterRef, Q
from django.db.models.functions import Coalesce, Greatest, Length

from memory.embedding.spaces import CueVector, everyday_likeness
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
AVERSION_WEIGHT = 2.0  # what hurt comes back by itself more than what pleased
MAX_FLASHBACK_CANDIDATES = 25  # felt ones, and as many that were not recalled for long
MIN_FLASHBACK_CHARACTERS = 12  # "Good night." is nothing to come back to,
MAX_FLASHBACK_CHARACTERS = 400  # and no page comes in a flash
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

    `vector` is the cue's from `embed_cue`; without it words decide alone, by Kith's own policy. `names` are what "user"
    and "companion" are called. `zone` is the user's: "yesterday" in the cue is theirs. The score is the policy's
    (memory.scoring), where Kith's own knows the companion's `mood` (-1 to 1) and brings to mind sooner what felt alike.
    `filters` filters, and looks back as of a day. `offset` (0 to 100) skips the best so many: pages of one cue join
    without a gap while nothing is kept or corrected, up to the 100th memory; asked as of the same moment, in an order
    that no passing time touches.

    A `policy` given by its name is that with its own parameters. `by_itself` holds back what does not bear on the cue
    (memory.recall.ranking), as nobody asked for it: then none may be a good answer. `by_content` looks at what each says
    alone, for pages and talks: not at who says it where, and by no policy. `parts` are sentences of the cue
    (memory.recall.query.split_cue, and embedded with it) that are asked with one by one as well; each memory counts by
    what it fits best, and tells of that.

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
            everyday = everyday_likeness(asked.vector) if asked.vector else 0.0
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
    return [  # one may have been deleted a moment ago
        Found(memories[id], round(best[id].score, 4), best[id].reasons) for id in ids if id in memories
    ]


class _Asked(NamedTuple):
    """A cue, or a sentence of one: as it was understood, what it means, and how like it each memory is."""

    cue: Cue
    vector: CueVector | None
    candidates: CandidateSet


def _ask_parts(
    parts: Iterable[str], names: Names, vector: CueVector | None, candidates: CandidateSet, asked_at: datetime
) -> Iterator[_Asked]:
    """Yield the sentences of a cue; where its meaning is known, those whose meaning is known as well."""
    for part in parts:
        cue = parse_cue(part, asked_at, names)
        if vector is None:
            yield _Asked(cue, None, candidates)
        elif part in vector.parts:
            means = CueVector(vector.space, vector.parts[part])
            yield _Asked(cue, means, candidates.compare_with_part(part))


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
    """Store the recall with what it found, its ranks counted on from `offset`."""
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


def list_visible_to_models(companion_id: UUID) -> MemoryQuerySet:
    """Return what models may be given of the companion's memories: nothing private, nothing from a hidden message."""
    mine = Memory.objects.of(companion_id).filter(is_private=False).exclude(message__is_hidden=True)
    return mine.select_related("message").defer("entry")


# -- what comes to mind unasked


def is_flashback_due(chance: Random, probability: float = FLASHBACK_PROBABILITY) -> bool:
    """Return whether something comes to mind this time; takes one number from the source.

    Raise ValueError for a probability outside of 0 to 1.
    """
    require("probability", probability, 0, 1)
    return chance.random() < probability


def find_flashback(companion_id: UUID, filters: MemoryFilter, chance: Random, now: datetime) -> Found | None:
    """Return a memory of the companion that comes up of itself, or None where there is none; one SQL query.

    A felt or long unrecalled one, never one that the filters leave out, that is closed or of which the message is
    hidden. The same chance draws the same from the same memories. Its score is 0, for no cue fits it; its reasons say
    `flashback`.
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
    """Return one of the candidates, drawn by weight, or None where there is none.

    The same seed and candidates draw the same, in whichever order they are given.
    """
    ids = sorted(candidates)
    return chance.choices(ids, [weigh_flashback(candidates[id]) for id in ids])[0] if ids else None


def weigh_flashback(row: Remembered) -> float:
    """Return what is still there of the memory, up to 4.5 times of it where it is felt; relevance has no part in it."""
    return retention(row) * (1 + JOY_WEIGHT * row.joy + AVERSION_WEIGHT * row.aversion)


# -- where recalled memories come from, and which of them say again what stands in the prompt

SUMMARIES = (Memory.Kind.DIARY, Memory.Kind.GIST, Memory.Kind.INSIGHT)  # they sum up much and repeat nothing


@dataclass(frozen=True, slots=True)
class Origins:
    """Where some recalled memories come from, by their ids.

    `sources` are the messages behind what was learnt; `outdated` are lines of which something that was learnt has been
    replaced, and `partly` those of them from which other things were learnt that still hold; `pages` are titles of
    documents and the numbers of their pages; `played` are lines of which nothing that was learnt holds, and that may
    belong to a game or a story.
    """

    sources: Mapping[UUID, frozenset[UUID]] = field(default_factory=dict)
    outdated: frozenset[UUID] = frozenset()
    partly: frozenset[UUID] = frozenset()
    pages: Mapping[UUID, tuple[str, int]] = field(default_factory=dict)
    played: frozenset[UUID] = frozenset()


NOWHERE = Origins()


def load_origins(companion_id: UUID, memories: Sequence[Memory]) -> Origins:
    """Return where these memories of the companion come from: a query, one more where gists are among them, and one more
    where lines are of which nothing holds that was learnt.

    What a night has merged with its like is not outdated.
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
    # Of each line, what took the place of what was learnt from it, and what was learnt from it and still holds.
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
    pages = (
        Page.objects.filter(document__companion=companion_id, memory__in=gists)
        if gists
        else Page.objects.none()
    )
    return Origins(
        {id: frozenset(ids) for id, ids in sources.items()},
        frozenset(replaced_by),
        frozenset(line for line, replacements in replaced_by.items() if holding[line] - replacements),
        {
            id: (title, number)
            for id, title, number in pages.values_list("memory", "document__title", "number")
            if id
        },
        _find_played(
            companion_id, [memory for memory in memories if memory.message_id and not holding[memory.pk]]
        ),
    )


def _find_played(companion_id: UUID, lines: Sequence[Memory]) -> frozenset[UUID]:
    """Return which of the lines may belong to a game or a story, by what was said before each of them."""
    said = Memory.objects.of(companion_id).filter(kind=Memory.Kind.SAID).order_by("-happened_at", "-id")
    before = [
        said.filter(happened_at__range=(line.happened_at - GAME_TIME, line.happened_at)).values_list(
            "happened_at", "id", "text"
        )[: GAME_LINES + 1]
        for line in lines
    ]
    rows = sorted(before[0].union(*before[1:])) if before else []
    return frozenset(
        line.pk
        for line in lines
        if is_in_game(
            [
                text
                for at, id, text in rows
                if line.happened_at - GAME_TIME <= at and (at, id) <= (line.happened_at, line.pk)
            ]
        )
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
        """Return whether the other says all of this, and denies as much."""
        return self.words <= other.words and self.denials == other.denials


def drop_repetitions(
    found: Sequence[Found], origins: Origins, messages: Collection[UUID], texts: Iterable[str]
) -> list[Found]:
    """Return the found memories without those that say again what stands in the prompt already, in their order.

    `messages` and `texts` stand there. What was learnt goes where all messages behind it stand there, or where one of
    the texts says all of it. Of what was learnt and the line that it was learnt from that stays which says more of what
    the cue said, and of equals what was learnt. Of the same words in another form the first stays, unless one speaker
    asks what the other says.
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
    """Return them without lines that what was learnt from them says as well, and the other way round."""
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
    """Return the terms of the cue that these say."""
    return {term for hit in found for term in hit.reasons.get("matched") or ()}
