"""Neighbours: which known memories a model is shown beside what was said, to compare it with them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from itertools import zip_longest
from uuid import UUID

import numpy as np
from django.db.models import Q
from pgvector import Vector

from accounts.limits.usage import Payer
from memory.embedding.spaces import embed_texts
from memory.models import Memory, Thread
from memory.models.memory import MemoryQuerySet
from memory.recall.candidates import PackedIndex, fetch_binary_from
from memory.recall.query import NOBODY, Names, parse_cue, without_names
from memory.recall.ranking import take_best
from memory.recall.relevance import match_words
from text.strings import storable

MAX_NEIGHBOURS = 80  # some 2,400 tokens of a request
BY_MEANING, BY_WORDS = 16, 4  # memories of one text; NEAREST has the first number as well
MEANING_PER_WORDS = BY_MEANING // BY_WORDS  # in turns: so many by meaning, then one by words
OF_ANSWERS = 2  # memories of one answer
MAX_OPEN = 10  # memories with an open thread
PACKED = "SELECT array_agg(id ORDER BY id), string_agg(entry, '' ORDER BY id) FROM {rows}"
NEAREST = """
SELECT place, (array_agg(memory_id ORDER BY likeness DESC, memory_id))[:16],
       (array_agg(likeness ORDER BY likeness DESC, memory_id))[:16]
  FROM (SELECT place, memory_id, max(-(embedding.vector <#> asked.vector)) AS likeness
          FROM {rows} JOIN memory_embedding embedding ON embedding.memory_id = found.id
         CROSS JOIN unnest(%s::int[], %s::vector[]) AS asked(place, vector)
         WHERE embedding.companion_id = %s AND embedding.space_id = %s AND embedding.vector IS NOT NULL
         GROUP BY place, memory_id) near
 GROUP BY place
"""


def select_showable(companion_id: UUID) -> MemoryQuerySet:
    """Return what the companion has learnt and may show to a model, including what no longer holds."""
    learnt = Memory.objects.of(companion_id).learnt()
    return learnt.filter(is_private=False, is_stale=False).exclude(entry=b"")


def select_known(companion_id: UUID) -> MemoryQuerySet:
    """Return what the companion has learnt, still holds and may show to a model."""
    return select_showable(companion_id).open()


def find_holding(companion_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Return by id, of the memories with these ids, each that holds, or the one that holds instead if it was replaced,
    maybe several times. Left out are those that models may not see.
    """
    ends = {id: id for id in ids}
    replaced_by: dict[UUID, UUID | None] = {}
    unread = {*ends}
    while unread:
        rows = Memory.objects.of(companion_id).filter(pk__in=unread)
        replaced_by |= {**dict.fromkeys(unread), **dict(rows.values_list("pk", "replaced_by"))}
        unread = {id for id in replaced_by.values() if id} - replaced_by.keys()
    for id in ends:
        seen = {id}
        while (after := replaced_by[ends[id]]) and after not in seen:
            seen.add(after)
            ends[id] = after
    known = select_known(companion_id).defer("entry").in_bulk([*ends.values()])
    return {id: known[end] for id, end in ends.items() if end in known}


def find_neighbours(
    companion_id: UUID,
    texts: Sequence[str],
    *,
    now: datetime,
    zone: tzinfo,
    payer: Payer | None = None,
    limit: int = MAX_NEIGHBOURS,
    names: Names = NOBODY,
    answers: Sequence[str] = (),
) -> list[Memory]:
    """Return at most `limit` learnt memories of the companion that one of the texts may be about, likeliest first.

    Each text brings its sixteen nearest in meaning and, in between, the four that share most words with it: first every
    text's best, then every text's second, and so on. Beyond the limit, each of the `answers`, which the companion
    itself said, brings its two best; and the ten newest memories with an open thread come before all others, since a
    line may settle them in any words. Without an embedder that answers, words alone decide. "Yesterday" counts from
    `now`, in the user's `zone`; `names` are what "user" and "companion" are called. Three SQL queries, however many
    texts.
    """
    asked = [without_names(storable(text), names) for text in (*texts, *answers) if text.strip()]
    own = sum(bool(text.strip()) for text in texts)
    known = select_known(companion_id)
    [(ids, packed)] = fetch_binary_from(known.values_list("id", "entry"), PACKED)
    if not ids or not asked or limit < 1:
        return []
    words = _rank_by_words(asked, PackedIndex.unpack(packed), now.astimezone(zone))
    meaning = _rank_by_meaning(companion_id, asked, ids, known, payer)
    ranked = [
        list(dict.fromkeys(_interleave([place for place, _ in near], shared)))
        for near, shared in zip(meaning, words, strict=True)
    ]
    in_turn = [place for round_ in zip_longest(*ranked[:own]) for place in round_ if place is not None]
    best = list(dict.fromkeys(in_turn))[:limit]
    best += [place for places in ranked[own:] for place in places[:OF_ANSWERS]]
    wanted = [ids[place] for place in dict.fromkeys(best)]
    shown = known.filter(Q(pk__in=wanted) | Q(thread__state=Thread.State.OPEN)).select_related("thread")
    there = {memory.pk: memory for memory in shown.defer("entry")}
    waiting = [memory for memory in there.values() if memory.has_open_thread]
    newest = sorted(waiting, key=lambda memory: memory.thread.opened_at, reverse=True)[:MAX_OPEN]
    return list(dict.fromkeys([*newest, *(there[id] for id in wanted if id in there)]))


def find_alike(
    companion_id: UUID,
    texts: Sequence[str],
    *,
    now: datetime,
    zone: tzinfo,
    payer: Payer | None,
    names: Names,
) -> list[list[tuple[Memory, float]]]:
    """Return for each text the learnt memories nearest to it in words or in meaning, each with its likeness (cosine), 0
    if words alone found it.
    """
    asked = [without_names(storable(text), names) or text for text in texts]
    known = select_known(companion_id)
    [(ids, packed)] = fetch_binary_from(known.values_list("id", "entry"), PACKED)
    if not ids or not asked:
        return [[] for _ in texts]
    words = _rank_by_words(asked, PackedIndex.unpack(packed), now.astimezone(zone))
    meaning = _rank_by_meaning(companion_id, asked, ids, known, payer)
    alike = [dict.fromkeys(shared, 0.0) | dict(near) for near, shared in zip(meaning, words, strict=True)]
    there = known.defer("entry").in_bulk([ids[place] for places in alike for place in places])
    return [
        [(there[ids[place]], likeness) for place, likeness in places.items() if ids[place] in there]
        for places in alike
    ]


def _rank_by_words(texts: Sequence[str], index: PackedIndex, when: datetime) -> list[list[int]]:
    """Return for each text the places of the memories that share most words with it."""
    apart = np.arange(len(index.times))  # each memory in a talk of its own, so that neighbours lend nothing
    rows = [match_words(parse_cue(text, when, NOBODY).terms, index, apart).scores for text in texts]
    return [take_best(row, row > 0, BY_WORDS) for row in rows]


def _rank_by_meaning(
    companion_id: UUID, texts: Sequence[str], ids: Sequence[UUID], known: MemoryQuerySet, payer: Payer | None
) -> list[list[tuple[int, float]]]:
    """Return for each text the places of the memories nearest in meaning, with their likeness to it.

    The lists are empty if no embedder answers.
    """
    near: list[list[tuple[int, float]]] = [[] for _ in texts]
    embedded = embed_texts(companion_id, texts, payer)
    if embedded is None:
        return near
    space, vectors = embedded
    given = list(range(len(texts))), [Vector(vector).to_text() for vector in vectors], companion_id, space.pk
    places = {id: place for place, id in enumerate(ids)}
    for row, nearest, likenesses in fetch_binary_from(known.values_list("id"), NEAREST, *given):
        alike = zip(nearest, likenesses, strict=True)
        near[row] = [(places[id], likeness) for id, likeness in alike if id in places]
    return near


def _interleave(near: list[int], shared: list[int]) -> Iterator[int]:
    """Yield places in turns of four by meaning and one by words, in which the one by words comes second."""
    for turn in range(BY_WORDS):
        by_meaning = near[turn * MEANING_PER_WORDS : (turn + 1) * MEANING_PER_WORDS]
        yield from (*by_meaning[:1], *shared[turn : turn + 1], *by_meaning[1:])
