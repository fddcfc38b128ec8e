"""Vectors made from others, and a quick way to store many."""

import os
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from providers.embedding.embedder import Floats

TURNED = 0.4  # a vector's length of noise, against its own of 1
COPY = (
    'COPY memory_embedding (companion_id, memory_id, space_id, "window", vector) FROM STDIN (FORMAT BINARY)'
)


class Owner(NamedTuple):
    """Whose a vector is: a memory's of a companion."""

    companion_id: UUID
    memory_id: UUID


def turned(vectors: Floats, count: int, chance: np.random.Generator) -> Floats:
    """Return `count` of the vectors (n, width), drawn by chance, each turned a little, with length 1."""
    made: Floats = vectors[chance.integers(len(vectors), size=count)]
    made += chance.standard_normal(made.shape, dtype=np.float32) * np.float32(TURNED / np.sqrt(made.shape[1]))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def store(owners: Iterable[Owner], space_id: int, vectors: Floats) -> None:
    """Store a row of the vectors (n, width) for each of n owners, whose memories are committed."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        register_vector(connection)
        with connection.cursor().copy(COPY) as copy:
            copy.set_types(["uuid", "uuid", "int8", "int2", "vector"])
            for owner, vector in zip(owners, vectors, strict=True):
                copy.write_row([*owner, space_id, 0, vector])
