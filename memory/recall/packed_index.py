"""The packed index: what recall reads of each memory, packed into one field, so that thousands are read at once.

An entry is a row of unsigned 32-bit numbers, big end first, none of them 0 but the last: the seconds since 1970 when it
happened, the microseconds plus 1, its traits, and the hashes of its terms.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memory.recall.traits import Trait

HEAD = 3
WIDE = ">u4"

Numbers = NDArray[np.int64]


def hash_term(term: str) -> int:
    """Return a number for a term, 1 to 2³²−1.

    Of ten terms in a cue, one shares its number with another of a companion's 10,000 once in some 40,000 recalls.
    """
    return crc32(term.encode("utf-8", "ignore")) or 1


def pack(happened_at: datetime, traits: Trait, terms: Iterable[str]) -> bytes:
    """Return the entry of one memory."""
    seconds = min(max(int(happened_at.timestamp()), 1), 2**32 - 1)
    head = [seconds, happened_at.microsecond + 1, int(traits)]
    return np.array([*head, *map(hash_term, terms), 0], dtype=WIDE).tobytes()


@dataclass(frozen=True, slots=True)
class PackedIndex:
    """The entries of n memories.

    `times` (n, float64 seconds since 1970), `traits` (n) and `lengths` (n, how many terms); the hash of each term in
    `terms`, and in `places` the place (0 to n - 1) of the memory that says it.
    """

    times: NDArray[np.float64]
    traits: Numbers
    lengths: Numbers
    terms: NDArray[np.uint32]
    places: Numbers

    @classmethod
    def unpack(cls, packed: bytes) -> "PackedIndex":
        """Return what several entries, one after the other, say."""
        numbers = np.frombuffer(packed, dtype=WIDE).astype(np.uint32)
        ends = np.flatnonzero(numbers == 0)
        starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
        lengths = ends - starts - HEAD
        is_term = numbers != 0
        for head in range(HEAD):
            is_term[starts + head] = False
        times = numbers[starts] + (numbers[starts + 1] - 1.0) / 1e6
        traits = numbers[starts + 2].astype(np.int64)
        return cls(times, traits, lengths, numbers[is_term], np.repeat(np.arange(len(starts)), lengths))

    def reorder(self, order: Numbers) -> "PackedIndex":
        """Return the same entries in another order: the first is the one that stood in place `order[0]`."""
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        heads = self.times[order], self.traits[order], self.lengths[order]
        return PackedIndex(*heads, self.terms, places[self.places])

    def count_terms(self, wanted: Sequence[int]) -> NDArray[np.float64]:
        """Return how often each memory says each of the wanted terms (hashes), (n, wanted)."""
        n = len(self.times)
        counts = [np.bincount(self.places[self.terms == term], minlength=n) for term in wanted]
        return np.array(counts, dtype=np.float64).reshape(len(wanted), n).T
