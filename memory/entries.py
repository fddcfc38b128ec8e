"""Entries: what recall reads of each memory, packed into one field, so that thousands are read at once.

An entry is a row of unsigned 32-bit numbers, big end first, none of them 0 but the last: the seconds since 1970 when it
happened, the microseconds plus 1, its traits, and the codes of its terms.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memory.traits import Trait

HEAD = 3
WIDE = ">u4"

Numbers = NDArray[np.int64]


def code(term: str) -> int:
    """A number for a term, 1 to 2³²−1.

    Of ten terms in a cue, one shares its number with another of a companion's 10,000 once in some 40,000 recalls.
    """
    return crc32(term.encode("utf-8", "ignore")) or 1


def pack(happened_at: datetime, traits: Trait, terms: Iterable[str]) -> bytes:
    """The entry of one memory."""
    seconds = min(max(int(happened_at.timestamp()), 1), 2**32 - 1)
    head = [seconds, happened_at.microsecond + 1, int(traits)]
    return np.array([*head, *map(code, terms), 0], dtype=WIDE).tobytes()


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of n memories, in the order in which they were packed.

    `times` (n, float64 seconds since 1970), `traits` (n), `lengths` (n, how many terms), and for all terms one after
    the other their `codes` and the row, 0 to n-1, of the memory that has it.
    """

    times: NDArray[np.float64]
    traits: Numbers
    lengths: Numbers
    codes: NDArray[np.uint32]
    rows: Numbers

    @classmethod
    def unpack(cls, packed: bytes) -> "Entries":
        """What several entries, one after the other, say."""
        numbers = np.frombuffer(packed, dtype=WIDE).astype(np.uint32)
        ends = np.flatnonzero(numbers == 0)
        starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
        lengths = ends - starts - HEAD
        is_term = np.ones(len(numbers), dtype=bool)
        is_term[ends] = False
        for place in range(HEAD):
            is_term[starts + place] = False
        times = numbers[starts] + (numbers[starts + 1] - 1.0) / 1e6
        rows = np.repeat(np.arange(len(starts)), lengths)
        return cls(times, numbers[starts + 2].astype(np.int64), lengths, numbers[is_term], rows)

    def only(self, kept: NDArray[np.bool_]) -> "Entries":
        """Those of the entries that are kept, (n,), in their order."""
        is_kept, places = kept[self.rows], np.cumsum(kept) - 1
        rows = places[self.rows[is_kept]]
        return Entries(self.times[kept], self.traits[kept], self.lengths[kept], self.codes[is_kept], rows)

    def sorted(self, order: Numbers) -> "Entries":
        """The same entries in another order: the first is the one that stood in place `order[0]`."""
        if (order[:-1] < order[1:]).all():
            return self
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        return Entries(
            self.times[order], self.traits[order], self.lengths[order], self.codes, places[self.rows]
        )
