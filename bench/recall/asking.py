"""The questions of the talks, put to the recall that a reply uses, and to the plain ways beside it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from time import perf_counter
from uuid import UUID

import numpy as np

from bench.recall import plain
from bench.recall.measures import DEPTHS, GIVEN, Answer
from bench.recall.storing import Stored
from bench.recall.talk import Question
from memory.embedding import embed_cue
from memory.embedding.spaces import CueVector, find_serving_space
from memory.models import Embedding, Memory
from memory.recall.recall import Found, recall
from memory.recall.traits import terms
from providers.embedding.embedder import Floats
from providers.tokens import estimate

LIMIT = max(DEPTHS)


@dataclass(frozen=True)
class Cue:
    """A question of one talk, its vector (None where no embedder serves) and what embedding it took."""

    stored: Stored
    question: Question
    vector: CueVector | None
    milliseconds: float


@dataclass(frozen=True)
class Timed:
    """An answer of recall's and the milliseconds that recalling took."""

    answer: Answer
    milliseconds: float


def cues(stored: Iterable[Stored]) -> list[Cue]:
    """Every question of every talk, embedded one by one, as a reply embeds its cue."""
    return [_cue(one, question) for one in stored for question in one.talk.questions]


def ask(stored: Stored, cue: Cue) -> list[Found]:
    """What the companion recalls for a cue, which may be another's: the one place that calls recall."""
    return recall(
        stored.companion.pk,
        cue.question.text,
        LIMIT,
        now=stored.talk.asked_at,
        zone=UTC,
        vector=cue.vector,
        names=stored.names,
    )


def answers(asked: Sequence[Cue]) -> list[Timed]:
    """Each cue's answer from the companion whose talk it is about."""
    return [_timed(cue) for cue in asked]


def plain_answers(asked: Sequence[Cue]) -> dict[str, list[Answer]]:
    """The plain ways' answers, over the same texts and vectors; BM25 alone where nothing is embedded."""
    shelves = {cue.stored.companion.pk: cue.stored for cue in asked}
    read = {pk: _Shelf(stored) for pk, stored in shelves.items()}
    ranked = [(cue, read[cue.stored.companion.pk].rank(cue)) for cue in asked]
    return {name: [_answer(cue, ways[name]) for cue, ways in ranked] for name in ranked[0][1]}


class _Shelf:
    """One companion's memories in the order of their time, for the plain ways."""

    def __init__(self, stored: Stored) -> None:
        memories = list(
            Memory.objects.of(stored.companion.pk).order_by("happened_at", "message__said_at", "id")
        )
        self.ids = [stored.turns[memory.message_id].id for memory in memories if memory.message_id]
        self.words = plain.BM25([terms(memory.text) for memory in memories])
        self.vectors, self.owners = _vectors(stored.companion.pk, [memory.pk for memory in memories])

    def rank(self, cue: Cue) -> dict[str, list[str]]:
        """The turns' ids by each way, best first."""
        ways = {"plain BM25": self.words.rank(terms(cue.question.text))}
        if cue.vector is not None and len(self.owners):
            ways["plain dense"] = plain.dense(self.vectors, self.owners, cue.vector.vector)
            ways["plain rank fusion"] = plain.fused(*ways.values())
        return {name: [self.ids[place] for place in places[:LIMIT]] for name, places in ways.items()}


def _vectors(companion_id: UUID, memory_ids: Sequence[UUID]) -> tuple[Floats, np.ndarray]:
    """The companion's vectors in the serving space (count, width), and the place of each one's memory."""
    place = {pk: n for n, pk in enumerate(memory_ids)}
    space = find_serving_space()
    known = Embedding.objects.filter(companion_id=companion_id, vector__isnull=False)
    rows = list(known.filter(space=space)) if space else []
    owners = np.array([place[row.memory_id] for row in rows], dtype=np.int64)
    return np.array([row.vector for row in rows], dtype=np.float32), owners


def _cue(stored: Stored, question: Question) -> Cue:
    began = perf_counter()
    vector = embed_cue(question.text, names=stored.companion.names)
    return Cue(stored, question, vector, (perf_counter() - began) * 1000)


def _timed(cue: Cue) -> Timed:
    began = perf_counter()
    found = ask(cue.stored, cue)
    milliseconds = (perf_counter() - began) * 1000
    turns = [cue.stored.turns[one.memory.message_id] for one in found if one.memory.message_id]
    return Timed(_answer(cue, [turn.id for turn in turns]), milliseconds)


def _answer(cue: Cue, ids: Iterable[str]) -> Answer:
    found = list(dict.fromkeys(ids))
    texts = {turn.id: turn.text for turn in cue.stored.talk.turns}
    return Answer(cue.question, found, sum(estimate(texts[id]) for id in found[:GIVEN]))
