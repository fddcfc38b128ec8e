"""Entries: what recall reads of each memory, packed into one field, so that thousands are read at once.

An entry is a row of unsigned 32-bit numbers, big end first, none of them 0 but the last: the seconds since 1970 when it
happened, the microseconds plus 1, its traits, and the codes of its terms.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memory.traits import Trait

HEAD = 3
WIDE = ">u4"
NOWHERE = -1

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
    """The entries of n memories, in the order in which they were packed until they are sorted.

    `times` (n, float64 seconds since 1970), `traits` (n), `lengths` (n, how many terms). The terms themselves stay where
    they were packed, for there are ten times as many: `places` says of each packed entry where it is now, or NOWHERE.
    """

    times: NDArray[np.float64]
    traits: Numbers
    lengths: Numbers
    places: Numbers
    packed_codes: NDArray[np.uint32]
    packed_rows: Numbers

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
        every = np.arange(len(starts))
        traits = numbers[starts + 2].astype(np.int64)
        return cls(times, traits, lengths, every, numbers[is_term], np.repeat(every, lengths))

    @property
    def codes(self) -> NDArray[np.uint32]:
        """The codes of all terms, in the order in which they were packed."""
        held: NDArray[np.uint32] = self.packed_codes[self.places[self.packed_rows] != NOWHERE]
        return held

    def having(self, wanted: Sequence[int]) -> tuple[Numbers, Numbers]:
        """Each time that a memory says a wanted term (of one or more): its place, and that of the term's code in them."""
        hits = [np.flatnonzero(self.packed_codes == code) for code in wanted]
        at = np.repeat(np.arange(len(wanted)), [len(one) for one in hits])
        places = self.places[self.packed_rows[np.concatenate(hits)]]
        is_there = places != NOWHERE
        return places[is_there], at[is_there]

    def only(self, kept: NDArray[np.bool_]) -> "Entries":
        """Those of the entries that are kept, (n,), in their order."""
        places = np.where(kept, np.cumsum(kept) - 1, NOWHERE)
        return self._moved(kept, places)

    def sorted(self, order: Numbers) -> "Entries":
        """The same entries in another order: the first is the one that stood in place `order[0]`."""
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        return self._moved(order, places)

    def _moved(self, taken: NDArray[Any], places: Numbers) -> "Entries":
        """Those taken, where `places` says of each that there was where it is now."""
        moved = np.append(places, NOWHERE)[self.places]  # what is nowhere stays there
        heads = self.times[taken], self.traits[taken], self.lengths[taken]
        return Entries(*heads, moved, self.packed_codes, self.packed_rows)
