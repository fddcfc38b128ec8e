"""`python -m bench.widths`: what comparing a cue with 10,000 memories takes at several widths, exactly and by bits.

The vectors are made up: points of a hundred directions with some noise, all leaning to one side, as models' are.
"""

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.place import Place

WIDTHS = (384, 1024, 2000, 3072, 8192, 16_000)
MEMORIES = 10_000
DIRECTIONS = 100
LEANING, NOISE = 0.5, 0.5  # lengths, beside a point's own of 1
CUES = 15
WANTED = 50  # a recall looks at so many closely
SEED = 5
Floats = np.ndarray[Any, np.dtype[np.float32]]


def normalised(vectors: Floats) -> Floats:
    """The same directions with length 1."""
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def made_up(count: int, width: int, chance: np.random.Generator) -> Floats:
    """(count, width) vectors of length 1."""
    directions = normalised(chance.normal(size=(DIRECTIONS, width)))
    points = normalised(chance.normal(size=(count, DIRECTIONS)) @ directions)
    noise = chance.normal(scale=NOISE / np.sqrt(width), size=(count, width))
    return normalised(points + LEANING * normalised(chance.normal(size=width)) + noise)


def store(companion: Any, vectors: Floats) -> Any:
    """A space with a vector for each of the companion's memories."""
    from django.db import connection
    from pgvector import Vector
    from pgvector.psycopg import register_vector

    from memory.models import Memory, Space

    space = Space.objects.create(
        model="made up", width=vectors.shape[1], edition=vectors.shape[1], max_tokens=1
    )
    ids = list(Memory.objects.of(companion.pk).values_list("pk", flat=True))
    columns = 'companion_id, memory_id, space_id, "window", vector'
    connection.ensure_connection()
    register_vector(connection.connection)  # type: ignore[arg-type]
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY memory_embedding ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["uuid", "uuid", "int8", "int2", "vector"])
            for pk, vector in zip(ids, vectors, strict=True):
                copy.write_row((companion.pk, pk, space.pk, 0, Vector(vector)))
        cursor.execute("VACUUM ANALYZE memory_embedding")
    return space


def measure(
    companion: Any, space: Any, cues: Floats, way: str
) -> tuple[list[float], list[list[Any]], list[float]]:
    """Milliseconds of each cue, the ids found nearest, and how far estimated cosines are off."""
    from django.db import connection
    from pgvector import Vector

    from memory.held import EXACTLY

    told = {"companion": companion.pk, "space": space.pk, "width": space.width, "exactly": EXACTLY}
    times, found, cosines = [], [], []
    with connection.cursor() as cursor:
        for cue in cues:
            began = perf_counter()
            cursor.execute(way, {**told, "cue": Vector(cue).to_text()})
            ids, packed = cursor.fetchone()
            times.append((perf_counter() - began) * 1000)
            likeness = np.frombuffer(bytes(packed), dtype=">f4")
            ids = np.frombuffer(bytes(ids), dtype="V16")
            best = np.argsort(-likeness)[:WANTED]
            found.append([bytes(one) for one in ids[best]])
            cosines.append(dict(zip(map(bytes, ids), likeness.tolist(), strict=True)))
    return times, found, cosines


def main() -> None:
    with Place():
        import random

        from bench import rows
        from memory.held import BY_BITS, EXACT
        from memory.models import Embedding

        someone = rows.person("someone").companion
        rows.live_through(someone, MEMORIES, random.Random(SEED))
        print(
            f"{MEMORIES:,} memories; milliseconds at the median of {CUES} cues, warm (the first in brackets)\n"
        )
        print(
            "| width | exactly | by bits | of the nearest 50 also found by bits | estimate off by (median, most) |"
        )
        print("| ---: | ---: | ---: | ---: | ---: |")
        for width in WIDTHS:
            chance = np.random.default_rng(SEED)
            vectors = made_up(MEMORIES, width, chance)
            near = vectors[chance.integers(MEMORIES, size=CUES)]
            cues = normalised(near + normalised(chance.normal(size=(CUES, width))))
            space = store(someone, vectors)
            bits = (
                BY_BITS
                if width > 2000
                else BY_BITS.replace("embedding.bits", "binary_quantize(embedding.vector)")
            )
            exact = measure(someone, space, cues, EXACT)
            by_bits = measure(someone, space, cues, bits)
            shared = np.mean(
                [len(set(a) & set(b)) / WANTED for a, b in zip(exact[1], by_bits[1], strict=True)]
            )
            off = [abs(a[k] - b[k]) for a, b in zip(exact[2], by_bits[2], strict=True) for k in a]
            print(
                f"| {width:,} | {median(exact[0]):.0f} ({exact[0][0]:.0f})"
                f" | {median(by_bits[0]):.0f} ({by_bits[0][0]:.0f})"
                f" | {shared:.0%} | {median(off):.3f}, {max(off):.3f} |",
                flush=True,
            )
            Embedding.objects.all().delete()
            space.delete()


if __name__ == "__main__":
    main()
