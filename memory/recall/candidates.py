"""Candidates of a recall: which memories take part, what recall reads of each, and how like each is to a cue."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zlib import crc32

import numpy as np
from django.db import connection
from django.db.models import (
    BinaryField,
    Case,
    F,
    FilteredRelation,
    FloatField,
    Func,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Cos, Pi
from numpy.typing import NDArray
from pgvector import Vector
from pgvector.django import MaxInnerProduct
from psycopg import Cursor
from psycopg.pq import Format

from memory.embedding.spaces import CueVector
from memory.models import Embedding, Memory, Space
from memory.models.embedding import MAX_SCANNED, BitsField
from memory.models.memory import MemoryQuerySet, from_messages
from memory.recall.traits import Trait
from providers.embedding.embedder import Floats

HEAD = 3  # so many numbers come before the terms of an entry
WIDE = ">u4"
PACKED = {"id": "uuid_send(id)", "entry": "entry"}  # the columns that every reader of entries fetches packed
YES, NO = Value(b"\x01", BinaryField()), Value(b"\x00", BinaryField())
MAX_EXACT = 300  # of wide vectors, so many are compared exactly

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Filters for recall and for lists. By default, all memories pass that still hold and that models may see.

    Private and stale memories are kept from models; their owner sees them `with_private`.

    Which memories take part in a recall at all: `as_of` looks back to what had happened and still held then;
    `leaving_out` are ids of messages, and `leaving_out_memories` of memories, that are known anyway. All others do not
    exist for it: they lend their neighbours nothing, and do not count for how rare a term is.

    Which of them may be results: those of these `kinds`, said by this `speaker` ("user" or "companion"), that happened
    from `since` on and before `until`, that come from one of the messages `sources`, and, with `is_pinned`, that are
    pinned. The others still count: an answer is understood by its question, whoever's words are wanted.

    Raise ValueError if a time has no zone, if `since` lies after `until`, and for an unknown kind or speaker.
    """

    kinds: Collection[str] = ()
    speaker: str = ""
    since: datetime | None = None
    until: datetime | None = None
    sources: Collection[UUID] = ()
    is_pinned: bool = False
    with_private: bool = False
    as_of: datetime | None = None
    leaving_out: Collection[UUID] = ()
    leaving_out_memories: Collection[UUID] = ()

    def __post_init__(self) -> None:
        for at in (self.since, self.until, self.as_of):
            if at is not None and at.utcoffset() is None:
                raise ValueError(f"The time {at} names no zone.")
        if self.since and self.until and self.since > self.until:
            raise ValueError(
                f"Nothing happened since {self.since} and before {self.until}, which is earlier."
            )
        for word, words in (*((kind, Memory.Kind) for kind in self.kinds), (self.speaker, Memory.Speaker)):
            if word and word not in words.values:
                raise ValueError(f"There is no {word!r}; there are {', '.join(words.values)}.")

    def narrow(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """Return the memories that take part in a recall at all; `wanted` says which of them may be results."""
        there = memories.as_of(self.as_of) if self.as_of else memories.open()
        there = there.leaving_out(self.leaving_out, self.leaving_out_memories)
        return there if self.with_private else there.filter(is_private=False, is_stale=False)

    @property
    def wanted(self) -> Q:
        """The condition for memories that may be results; empty if all may."""
        wanted = Q(kind__in=self.kinds) if self.kinds else Q()
        wanted &= Q(speaker=self.speaker) if self.speaker else Q()
        wanted &= Q(happened_at__gte=self.since) if self.since else Q()
        wanted &= Q(happened_at__lt=self.until) if self.until else Q()
        wanted &= from_messages(self.sources) if self.sources else Q()
        return wanted & (Q(is_pinned=True) if self.is_pinned else Q())

    def apply(self, memories: MemoryQuerySet) -> MemoryQuerySet:
        """Return the memories that take part and may be results, e.g. to list them."""
        return self.narrow(memories).filter(self.wanted)


EVERYTHING = MemoryFilter()


def hash_term(term: str) -> int:
    """Return a hash of the term, 1 to 2³²−1.

    With ten terms in a cue and 10,000 known to a companion, two terms share a hash once in some 40,000 recalls.
    """
    return crc32(term.encode("utf-8", "ignore")) or 1


def pack(happened_at: datetime, traits: Trait, terms: Iterable[str]) -> bytes:
    """Return the packed entry of one memory: what recall reads of it, so that thousands can be read at once.

    It is a row of big-endian unsigned 32-bit numbers, of which only the last is 0: the seconds since 1970 when the
    memory happened, the microseconds plus 1, its traits, and the hashes of its terms.
    """
    seconds = min(max(int(happened_at.timestamp()), 1), 2**32 - 1)
    head = [seconds, happened_at.microsecond + 1, int(traits)]
    return np.array([*head, *map(hash_term, terms), 0], dtype=WIDE).tobytes()


@dataclass(frozen=True, slots=True)
class PackedIndex:
    """The unpacked entries of n memories.

    `times` (n, float64 seconds since 1970), `traits` (n) and `lengths` (n, how many terms). `terms` are the hashes of
    all terms, one entry after the other as they were packed; for each of these entries, `ends` tells where its terms
    end, and `places` the place (0 to n - 1) of its memory, or -1 if it was left out.
    """

    times: NDArray[np.float64]
    traits: Numbers
    lengths: Numbers
    terms: NDArray[np.uint32]
    ends: Numbers
    places: Numbers

    @classmethod
    def unpack(cls, packed: bytes) -> "PackedIndex":
        """Return the index of several packed entries, one after the other."""
        numbers = np.frombuffer(packed, dtype=WIDE).astype(np.uint32)
        ends = np.flatnonzero(numbers == 0)
        starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
        lengths = ends - starts - HEAD
        is_term = numbers != 0
        for head in range(HEAD):
            is_term[starts + head] = False
        times = numbers[starts] + (numbers[starts + 1] - 1.0) / 1e6
        traits = numbers[starts + 2].astype(np.int64)
        return cls(times, traits, lengths, numbers[is_term], np.cumsum(lengths), np.arange(len(starts)))

    def reorder(self, order: Numbers) -> "PackedIndex":
        """Return an index of the entries in the places `order`, in this order."""
        # The last is for what was left out before, whose place is -1.
        moved = np.full(len(self.times) + 1, -1, dtype=np.int64)
        moved[order] = np.arange(len(order))
        heads = self.times[order], self.traits[order], self.lengths[order]
        return PackedIndex(*heads, self.terms, self.ends, moved[self.places])

    def count_terms(self, wanted: Sequence[int]) -> NDArray[np.float64]:
        """Return how often each memory has each of the wanted terms (hashes), as an array (n, wanted)."""
        counts = np.zeros((len(wanted), len(self.times)))
        for row, term in zip(counts, wanted, strict=True):
            entries = np.searchsorted(self.ends, np.flatnonzero(self.terms == term), side="right")
            places = self.places[entries]
            row += np.bincount(places[places >= 0], minlength=len(row))
        return counts.T


def fetch_binary_from(queryset: QuerySet[Any, Any], sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of `sql`, fetched in binary format; its `{rows}`, before any %s, is replaced by the queryset.

    Django's own cursors use the text format, whose spelling and parsing is most of the time that many vectors take.
    """
    inner, given = queryset.order_by().query.sql_with_params()
    connection.ensure_connection()
    binary = Cursor(connection.connection)
    binary.format = Format.BINARY
    make = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with make(binary) as cursor:  # type: ignore[arg-type]  # the stubs accept only cursors wrapped already
        cursor.execute(sql.format(rows=f"({inner}) found"), [*given, *parameters])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def fetch_packed(memories: MemoryQuerySet, columns: Mapping[str, str]) -> dict[str, bytes]:
    """Return by column the concatenated bytes of all rows: thousands arrive as one value each, which NumPy reads.

    `columns` gives for each field or annotation of the memories the SQL expression of its bytes.
    """
    packed = ", ".join(f"string_agg({expression}, '')" for expression in columns.values())
    [row] = fetch_binary_from(memories.values_list(*columns), f"SELECT {packed} FROM {{rows}}")  # noqa: S608 (constants alone)
    return {name: value or b"" for name, value in zip(columns, row, strict=True)}


class HammingDistance(Func):
    """The number of bits in which the signs of two wide vectors differ."""

    template = "(%(expressions)s)"
    arg_joiner = " <~> "
    output_field = FloatField()


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """n memories of one companion, oldest first, with what is known of each without loading it.

    `ids` (n, bytes of UUIDs), the `index` of their entries, the `likeness` of each to the cue (n, a cosine, NaN without
    an embedding), and whether each may be a result (`may_come`, n); the others still count. `likeness_of_parts` is the
    likeness to sentences of the cue, by their texts.
    """

    companion_id: UUID
    ids: NDArray[np.void]
    index: PackedIndex
    likeness: NDArray[np.float64]
    may_come: NDArray[np.bool_]
    likeness_of_parts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def compare_with_part(self, part: str) -> "CandidateSet":
        """Return the same memories with their likeness to this sentence of the cue."""
        return replace(self, likeness=self.likeness_of_parts[part])

    def ids_of(self, places: Iterable[int]) -> list[UUID]:
        """Return the ids of the memories in these places."""
        return [UUID(bytes=self.ids[place].tobytes()) for place in places]


def load_candidates(companion_id: UUID, filters: MemoryFilter, cue: CueVector | None = None) -> CandidateSet:
    """Return those of the companion's memories that take part, compared with the cue and its parts, whose vectors have
    length 1; one SQL query.

    The query reads a row for each window of a memory, of which the likest counts. If PostgreSQL grouped the rows, it
    would sort them with their vectors, on disk if there are thousands.
    """
    memories = filters.narrow(Memory.objects.of(companion_id)).exclude(entry=b"").order_by()
    columns = dict(PACKED)
    if filters.wanted:
        memories = memories.annotate(is_wanted=Case(When(filters.wanted, then=YES), default=NO))
        columns["is_wanted"] = "is_wanted"
    if cue:
        in_space = FilteredRelation("embeddings", condition=Q(embeddings__space=cue.space))
        memories = memories.alias(in_space=in_space)
        for number, vector in enumerate((cue.vector, *cue.parts.values())):
            cosine = Coalesce(_cosine(companion_id, cue.space, vector), Value(float("nan")))
            memories = memories.annotate(**{f"cosine{number}": cosine})
            columns[f"cosine{number}"] = f"float8send(cosine{number})"
    found = fetch_packed(memories, columns)
    index = PackedIndex.unpack(found["entry"])
    ids = np.frombuffer(found["id"], dtype="V16")
    rows = len(ids)
    halves = ids.view(">u8").reshape(rows, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0], index.times))
    ids = ids[order]
    firsts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])[:rows])  # of each memory's windows
    kept = order[firsts]
    likeness = [  # to the cue, and to its parts; NaN where no window has a vector
        np.fmax.reduceat(
            np.frombuffer(found[f"cosine{number}"], dtype=">f8").astype(np.float64)[order], firsts
        )
        if rows
        else np.zeros(0)
        for number in range(1 + len(cue.parts) if cue else 0)
    ] or [np.full(len(kept), np.nan)]
    may_come = np.frombuffer(found["is_wanted"], np.bool_) if filters.wanted else np.ones(rows, np.bool_)
    return CandidateSet(
        companion_id,
        ids[firsts],
        index.reorder(kept),
        likeness[0],
        may_come[kept],
        dict(zip(cue.parts if cue else (), likeness[1:], strict=True)),
    )


def _cosine(companion_id: UUID, space: Space, vector: Floats) -> Any:
    """Return an expression for the cosine of an embedding; of wide vectors an estimate, except for the nearest.

    The estimate is from bits: two vectors at an angle a differ in about a / pi of their signs.
    """
    exact = -MaxInnerProduct("in_space__vector", vector)
    if space.width <= MAX_SCANNED:
        return exact
    own = Embedding.objects.filter(companion_id=companion_id, space=space, vector__isnull=False)
    nearest = own.order_by(_count_differing_bits(vector)).values("pk")[:MAX_EXACT]
    share = _count_differing_bits(vector, "in_space__") / Value(float(len(vector)))
    return Case(
        When(in_space__pk__in=nearest, then=exact),
        When(in_space__vector__isnull=False, then=Cos(Pi() * share)),
    )


def _count_differing_bits(vector: Floats, prefix: str = "") -> HammingDistance:
    template = "binary_quantize(%(expressions)s::vector)"
    bits = Func(Value(Vector(vector).to_text()), template=template, output_field=BitsField())
    return HammingDistance(F(f"{prefix}bits"), bits)
