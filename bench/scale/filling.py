"""Companions of many memories: talked to as people talk, or given what another was told."""

import random
from collections.abc import Iterator, Sequence
from uuid import UUID

import numpy as np
from django.db import connection

from bench.common import rows
from bench.common.vectors import Owner, store, turned
from companions.models import Companion
from memory.embedding import embed_waiting
from memory.models import Embedding, Memory
from providers.embedding.embedder import Floats

EMBEDDED = 300  # really, of the first companion; all other vectors are these, turned a little
AT_ONCE = 100  # companions that talk at the same time: what each is told lies scattered among the others'
FRESH = {"id": "gen_random_uuid()", "companion_id": "told.companion", "message_id": "NULL"}
TELL = """
INSERT INTO {table} ({columns})
SELECT {values} FROM {table} memory JOIN unnest(%s::uuid[], %s::uuid[]) AS told (source, companion)
    ON memory.companion_id = told.source
 WHERE memory.id = ANY(%s) ORDER BY told.companion, memory.happened_at
RETURNING companion_id, id
"""


def live(name: str, count: int, seed: int, lender: Companion | None = None) -> Companion:
    """A new companion with so many memories, kept as talk is kept, all of them with a vector, lent where one lends."""
    companion = rows.person(name).companion
    rows.live_through(companion, count, random.Random(seed))
    if lender is None:
        embed_waiting(companion.pk, EMBEDDED)
    rows.lend_vectors(companion, np.random.default_rng(seed), lender)
    return companion


def tell(sources: Sequence[Companion], count: int, seed: int) -> list[Companion]:
    """So many new companions, each told what one of the sources was, without the messages, with vectors of its own."""
    chance = np.random.default_rng(seed)
    new = [rows.person(f"told{n}").companion for n in range(count)]
    space_id, vectors = known(sources)
    every_session = [sessions(source.pk) for source in sources]
    for first in range(0, count, AT_ONCE):
        group = new[first : first + AT_ONCE]
        pairs = [(sources[n % len(sources)].pk, one.pk) for n, one in enumerate(group, start=first)]
        for together in zip(*every_session, strict=True):
            owners = copies_of(pairs, [pk for session in together for pk in session])
            store(owners, space_id, turned(vectors, len(owners), chance))
    return new


def known(companions: Sequence[Companion]) -> tuple[int, Floats]:
    """The space in which the companions' memories lie, and the vectors there (n, width)."""
    have = list(Embedding.objects.filter(companion__in=companions))
    return have[0].space_id, np.array([one.vector for one in have], dtype=np.float32)


def sessions(companion_id: UUID) -> list[list[UUID]]:
    """The ids of a companion's memories in the order of time, so many together as were told in a session."""
    ids = list(Memory.objects.of(companion_id).order_by("happened_at").values_list("pk", flat=True))
    return list(_cut(ids, rows.MESSAGES_A_SESSION))


def settle() -> None:
    """Leave the tables as autovacuum would a little later, with nothing left to write."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
        cursor.execute("CHECKPOINT")


def copies_of(pairs: Sequence[tuple[UUID, UUID]], memory_ids: Sequence[UUID]) -> list[Owner]:
    """Whose the copies are that each pair's second companion gets of those memories that are its first one's."""
    columns = [str(field.column) for field in Memory._meta.concrete_fields]
    values = [FRESH.get(column) or f'memory."{column}"' for column in columns]
    tell = TELL.format(
        table=Memory._meta.db_table,
        columns=", ".join(f'"{column}"' for column in columns),
        values=", ".join(values),
    )
    from_whom, to_whom = (list(ids) for ids in zip(*pairs, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(tell, [from_whom, to_whom, list(memory_ids)])
        return [Owner(*row) for row in cursor.fetchall()]


def _cut(ids: list[UUID], size: int) -> Iterator[list[UUID]]:
    return (ids[first : first + size] for first in range(0, len(ids), size))
