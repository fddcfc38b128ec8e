"""What recall looks at: the entries of one companion's memories, and how near in meaning each is to a cue."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Case, Value, When
from numpy.typing import NDArray
from pgvector import Vector

from memory.among import Among
from memory.entries import Entries, Numbers
from memory.models import Memory
from memory.models.embedding import MOST_SCANNED
from memory.prepared import ONE, THEN, filled
from memory.reading import read, read_from
from memory.spaces import CueVector

# The values of all rows, one after the other.
PACKED = "SELECT string_agg(uuid_send(id), ''), string_agg(entry, ''), NULL FROM {rows}"
PACKED_MAY_COME = PACKED.replace("NULL", "string_agg(may_come, '')")
YES, NO = b"\x01", b"\x00"
EXACT = """
SELECT string_agg(uuid_send(memory_id) || float4send((-(vector <#> %(cue)s::vector))::float4), '')
  FROM memory_embedding WHERE companion_id = %(companion)s AND space_id = %(space)s AND vector IS NOT NULL
"""
# Two vectors at the angle a differ in about a / pi of their signs; those that differ in the fewest are looked at exactly.
BY_BITS = """
WITH cue AS MATERIALIZED (SELECT %(cue)s::vector AS vector, binary_quantize(%(cue)s::vector) AS bits),
     apart AS MATERIALIZED (
       SELECT id, memory_id, embedding.bits <~> cue.bits AS bits
         FROM memory_embedding embedding, cue
        WHERE companion_id = %(companion)s AND space_id = %(space)s AND embedding.vector IS NOT NULL),
     near AS (
       SELECT embedding.id, -(embedding.vector <#> cue.vector) AS cosine
         FROM memory_embedding embedding, cue
        WHERE embedding.id IN (SELECT id FROM apart ORDER BY bits LIMIT %(exactly)s))
SELECT string_agg(
         uuid_send(memory_id) || float4send(coalesce(near.cosine, cos(pi() * apart.bits / %(width)s))::float4), '')
  FROM apart LEFT JOIN near USING (id)
"""
EXACTLY = 300
ID_AND_COSINE = np.dtype([("id", ">u8", 2), ("cosine", ">f4")])

Ids = NDArray[np.uint64]

Likeness = tuple[Ids, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Held:
    """n memories of one companion in the order of time, with what is known of each without reading it.

    Their ids (n, 2 halves of 64 bits), their entries, how like the cue each is (`likeness`, a cosine, NaN where a
    memory has no embedding), and whether it is wanted (`may_come`): what is not still counts.
    """

    companion_id: UUID
    ids: Ids
    entries: Entries
    likeness: NDArray[np.float64]
    may_come: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)

    def ids_of(self, places: Sequence[int] | Numbers) -> list[UUID]:
        """The ids of the memories in these places."""
        packed = self.ids[places].astype(">u8").tobytes()
        return [UUID(bytes=packed[at : at + 16]) for at in range(0, len(packed), 16)]

    def without(self, left_out: Collection[UUID]) -> "Held":
        """All but these memories: they are not there, and lend their neighbours nothing."""
        if not left_out:
            return self
        kept = ~_is_among(_keys(self.ids), _keys(_ids(b"".join(id.bytes for id in left_out))))
        return Held(
            self.companion_id,
            self.ids[kept],
            self.entries.only(kept),
            self.likeness[kept],
            self.may_come[kept],
        )


def _ids(packed: bytes | None) -> Ids:
    return np.frombuffer(packed or b"", dtype=">u8").astype(np.uint64).reshape(-1, 2)


NOTHING_ALIKE: Likeness = (_ids(None), np.zeros(0))


def held(companion_id: UUID, among: Among, cue: CueVector | None) -> Held:
    """The companion's memories, also those that are to be left out; two SQL queries, one without a vector."""
    return compared(lying(companion_id, among), likeness(companion_id, cue) if cue else NOTHING_ALIKE)


def lying(companion_id: UUID, among: Among) -> Held:
    """The companion's memories, compared with nothing yet; one SQL query."""
    [(packed_ids, packed, may_come)] = _packed(companion_id, among)
    ids, entries = _ids(packed_ids), Entries.unpack(packed or b"")
    order = _in_time(entries.times, ids)
    known = np.ones(len(ids), dtype=np.bool_) if may_come is None else np.frombuffer(may_come, np.bool_)
    return Held(companion_id, ids[order], entries.sorted(order), np.full(len(ids), np.nan), known[order])


def _packed(companion_id: UUID, among: Among) -> list[tuple[Any, ...]]:
    """Ids, entries, and where not all may come which may, each in one piece; None where there are none."""
    if not among.wanted:
        sql, parameters = _packing(among.with_private, among.as_of is not None)
        return read(sql, filled(parameters, {ONE: companion_id, THEN: among.as_of}))
    there = among.there(Memory.objects.of(companion_id)).exclude(entry=b"")
    may_come = Case(When(among.wanted, then=Value(YES)), default=Value(NO))
    return read_from(
        there.annotate(may_come=may_come).values_list("id", "entry", "may_come"), PACKED_MAY_COME
    )


@cache
def _packing(with_private: bool, looks_back: bool) -> tuple[str, tuple[Any, ...]]:
    """The statement for when all may come, and its parameters with stand-ins."""
    among = Among(with_private=with_private, as_of=THEN if looks_back else None)
    there = among.there(Memory.objects.of(ONE)).exclude(entry=b"").order_by()
    inner, parameters = there.values_list("id", "entry").query.sql_with_params()
    return PACKED.format(rows=f"({inner}) found"), parameters


def compared(lying: Held, like: Likeness) -> Held:
    """The same memories, with how like a cue each is, as `likeness` told."""
    return replace(lying, likeness=_likeness(lying.ids, *like))


def _in_time(times: NDArray[np.float64], ids: Ids) -> Numbers:
    """The order of the times; of the same moment, that of the ids."""
    order: Numbers = np.argsort(times, kind="stable")  # quick, for most lie in it
    if (np.diff(times[order]) == 0).any():
        order = np.lexsort((ids[:, 1], ids[:, 0], times))
    return order


def likeness(companion_id: UUID, cue: CueVector) -> Likeness:
    """The memories that have an embedding in the cue's space, one a window, and the cosine of each; one SQL query.

    The cue has length 1.

    Of vectors too wide to read them all the cosine is estimated from their bits, but for the nearest.
    """
    width = cue.space.width
    told = {"companion": companion_id, "space": cue.space.pk, "cue": Vector(cue.vector).to_text()}
    if width > MOST_SCANNED:
        told |= {"width": width, "exactly": EXACTLY}
    [(packed,)] = read(EXACT if width <= MOST_SCANNED else BY_BITS, told)
    pairs = np.frombuffer(packed or b"", dtype=ID_AND_COSINE)
    return pairs["id"].astype(np.uint64), pairs["cosine"].astype(np.float64)


def _likeness(ids: Ids, embedded: Ids, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each of the ids the best cosine of its windows; NaN where it has none."""
    likeness = np.full(len(ids), np.nan)
    if not len(ids) or not len(embedded):
        return likeness
    keys, wanted = _keys(ids), _keys(embedded)
    wanted, cosines = _best_windows(wanted, cosines)
    order = np.argsort(keys)
    keys = keys[order]
    at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    is_there = wanted[at] == keys
    likeness[order[is_there]] = cosines[at[is_there]]
    return likeness


def _best_windows(keys: Ids, cosines: NDArray[np.float64]) -> tuple[Ids, NDArray[np.float64]]:
    """The keys, rising, each once, with the best of its cosines."""
    rising = np.argsort(keys)
    if (keys[rising][1:] == keys[rising][:-1]).any():
        rising = np.lexsort((cosines, keys))
        rising = rising[np.append(keys[rising][1:] != keys[rising][:-1], True)]
    return keys[rising], cosines[rising]


def _is_among(keys: Ids, some: Ids) -> NDArray[np.bool_]:
    """Whether each of the keys is one of some, which are few: of thousands, the last 16 bits rule out most."""
    is_wanted, is_among = np.zeros(1 << 16, dtype=np.bool_), np.zeros(len(keys), dtype=np.bool_)
    is_wanted[some & 0xFFFF] = True
    maybe, rising = np.flatnonzero(is_wanted[keys & 0xFFFF]), np.sort(some)
    near = np.minimum(np.searchsorted(rising, keys[maybe]), len(rising) - 1)
    is_among[maybe] = rising[near] == keys[maybe]
    return is_among


def _keys(ids: Ids) -> Ids:
    """One number for each id: of its 122 random bits, 64 folded ones are enough to tell a companion's memories apart."""
    keys: Ids = ids[:, 0] ^ ids[:, 1]
    return keys
