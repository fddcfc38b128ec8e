"""Recall, asked and timed piece by piece, and beside it the barest search that there is."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from itertools import cycle
from time import perf_counter
from typing import Any

from django.db import connection
from django.utils import timezone
from pgvector import Vector

from bench.common.sentences import question
from companions.models import Companion
from memory.embedding import embed_cue
from memory.embedding.spaces import CueVector
from memory.recall.recall import recall

LIMIT = 10
BARE = """
SELECT memory_id FROM memory_embedding WHERE companion_id = %s AND space_id = %s
 ORDER BY vector <=> %s::vector LIMIT %s
"""


@dataclass(frozen=True)
class Asked:
    """One cue: the milliseconds of the bare search, of embedding the cue, of recall, and of recall's own statements."""

    bare: float
    embedding: float
    recall: float
    statements: Sequence[float]

    @property
    def sql(self) -> float:
        """All of recall's statements together."""
        return sum(self.statements)

    @property
    def whole(self) -> float:
        """What somebody waits for: the cue is embedded, then recalled."""
        return self.embedding + self.recall


def cues(count: int, seed: int) -> list[str]:
    """So many different questions."""
    chance, drawn = random.Random(seed), dict[str, None]()
    while len(drawn) < count:
        drawn[question(chance)] = None
    return list(drawn)


def ask(companions: Sequence[Companion], asked: Sequence[str]) -> list[Asked]:
    """Each cue put to one of the companions, in turn."""
    return [_ask(companion, cue) for companion, cue in zip(cycle(companions), asked, strict=False)]


@contextmanager
def statements() -> Iterator[list[float]]:
    """The milliseconds of each statement within the block, from sending it to holding all that it answers."""
    taken: list[float] = []

    def watch(execute: Callable[..., Any], *given: Any) -> Any:
        began = perf_counter()
        try:
            return execute(*given)
        finally:
            taken.append((perf_counter() - began) * 1000)

    with connection.execute_wrapper(watch):
        yield taken


def search_bare(companion: Companion, vector: CueVector) -> None:
    """The memories nearest to the vector, by the plainest statement."""
    text = Vector(vector.vector).to_text()
    with connection.cursor() as cursor:
        cursor.execute(BARE, [companion.pk, vector.space.pk, text, LIMIT])
        cursor.fetchall()


def recall_all(companion: Companion, cue: str, vector: CueVector) -> None:
    """What a reply asks for."""
    names = companion.names
    recall(companion.pk, cue, LIMIT, now=timezone.now(), zone=UTC, vector=vector, names=names)


def _ask(companion: Companion, cue: str) -> Asked:
    """Recall comes first: what must be read from disk is read for it."""
    began = perf_counter()
    vector = embed_cue(cue, names=companion.names)
    embedded = perf_counter()
    if vector is None:
        raise RuntimeError("No embedder answers: the built-in one's weights are missing.")
    with statements() as recalls:
        recall_all(companion, cue, vector)
    recalled = perf_counter()
    with statements() as bare:
        search_bare(companion, vector)
    return Asked(sum(bare), (embedded - began) * 1000, (recalled - embedded) * 1000, recalls)
