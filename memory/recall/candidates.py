"""Candidates: the entries of one companion's memories, and how near in meaning each is to a cue."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import (
    Aggregate,
    BinaryField,
    Case,
    F,
    FilteredRelation,
    FloatField,
    Func,
    Max,
    Q,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Cos, Pi
from numpy.typing import NDArray
from pgvector import Vector
from pgvector.django import MaxInnerProduct

from memory.embedding.spaces import CueVector
from memory.models import Embedding, Memory
from memory.models.embedding import MOST_SCANNED, BitsField
from memory.recall.filters import MemoryFilter
from memory.recall.packed_index import PackedIndex
from providers.embedding.embedder import Floats

YES, NO = Value(b"\x01", BinaryField()), Value(b"\x00", BinaryField())
MAX_EXACT = 300  # of wide vectors


class PackedBytes(Aggregate):
    """The bytes of all rows, one after the other: thousands of rows come as one, and are read by NumPy."""

    function = "string_agg"
    template = "%(function)s(%(expressions)s, '')"
    output_field = BinaryField()


class HammingDistance(Func):
    """How many bits of a wide vector's signs differ from those of another."""

    template = "(%(expressions)s)"
    arg_joiner = " <~> "
    output_field = FloatField()


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """n memories of one companion in the order of time, with what is known of each without reading it.

    `ids` (n, bytes of UUIDs), the `index` of what they say, how like the cue each is (`likeness`, a cosine, NaN where a
    memory has no embedding), and whether it is wanted (`may_come`): what is not still counts.
    """

    companion_id: UUID
    ids: NDArray[np.void]
    index: PackedIndex
    likeness: NDArray[np.float64]
    may_come: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)

    def ids_of(self, places: Iterable[int]) -> list[UUID]:
        """Return the ids of the memories in these places."""
        return [UUID(bytes=self.ids[place].tobytes()) for place in places]


def load_candidates(companion_id: UUID, filters: MemoryFilter, cue: CueVector | None = None) -> CandidateSet:
    """Return the companion's memories that there are, compared with the cue, whose vector has length 1; one SQL query."""
    memories = filters.narrow(Memory.objects.of(companion_id)).exclude(entry=b"").order_by()
    columns: dict[str, Any] = {
        "ids": PackedBytes(Func("id", function="uuid_send")),
        "entries": PackedBytes("entry"),
    }
    if filters.wanted:
        memories = memories.annotate(is_wanted=Case(When(filters.wanted, then=YES), default=NO))
        columns["wanted"] = PackedBytes("is_wanted")
    if cue:
        in_space = FilteredRelation("embeddings", condition=Q(embeddings__space=cue.space))
        cosine = Max(_cosine(companion_id, cue))
        memories = memories.alias(in_space=in_space).annotate(cosine=Coalesce(cosine, Value(float("nan"))))
        columns["cosines"] = PackedBytes(Func("cosine", function="float8send"))
    found = memories.aggregate(**columns)
    index = PackedIndex.unpack(found["entries"] or b"")
    ids = np.frombuffer(found["ids"] or b"", dtype="V16")
    n = len(ids)
    halves = ids.view(">u8").reshape(n, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0], index.times))
    likeness = np.frombuffer(found["cosines"] or b"", dtype=">f8") if cue else np.full(n, np.nan)
    may_come = np.frombuffer(found["wanted"] or b"", np.bool_) if filters.wanted else np.ones(n, np.bool_)
    return CandidateSet(
        companion_id,
        ids[order],
        index.reorder(order),
        likeness.astype(np.float64)[order],
        may_come[order],
    )


def _cosine(companion_id: UUID, cue: CueVector) -> Any:
    """Return the cosine of an embedding in the cue's space; of wide vectors an estimate, but for the nearest."""
    exact = measure_cosine(cue.vector, "in_space__")
    if cue.space.width <= MOST_SCANNED:
        return exact
    own = Embedding.objects.filter(companion_id=companion_id, space=cue.space, vector__isnull=False)
    nearest = own.order_by(count_differing_bits(cue.vector)).values("pk")[:MAX_EXACT]
    estimate = estimate_cosine(cue.vector, "in_space__")
    return Case(
        When(in_space__pk__in=nearest, then=exact), When(in_space__vector__isnull=False, then=estimate)
    )


def measure_cosine(vector: Floats, prefix: str = "") -> Any:
    return -MaxInnerProduct(f"{prefix}vector", vector)


def estimate_cosine(vector: Floats, prefix: str = "") -> Any:
    """Estimate it from bits: two vectors at the angle a differ in about a / pi of their signs."""
    return Cos(Pi() * count_differing_bits(vector, prefix) / Value(float(len(vector))))


def count_differing_bits(vector: Floats, prefix: str = "") -> HammingDistance:
    template = "binary_quantize(%(expressions)s::vector)"
    bits = Func(Value(Vector(vector).to_text()), template=template, output_field=BitsField())
    return HammingDistance(F(f"{prefix}bits"), bits)
