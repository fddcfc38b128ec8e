"""The packed index: unpacked, put in order, and asked for terms."""

from datetime import UTC, datetime, timedelta

import numpy as np

from memory.recall.candidates import PackedIndex, hash_term, pack
from memory.recall.traits import Trait

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SAID = [["tea", "rain"], ["rain"], [], ["tea", "tea", "sun"]]


def packed() -> PackedIndex:
    """Four memories, an hour apart."""
    hours = (pack(NOON + timedelta(hours=n), Trait.OF_USER, words) for n, words in enumerate(SAID))
    return PackedIndex.unpack(b"".join(hours))


def counts(index: PackedIndex, *words: str) -> list[list[float]]:
    return index.count_terms([hash_term(word) for word in words]).tolist()


def test_terms_are_counted_where_they_were_packed() -> None:
    assert counts(packed(), "tea", "sun", "snow") == [[1, 0, 0], [0, 0, 0], [0, 0, 0], [2, 1, 0]]
    assert packed().lengths.tolist() == [2, 1, 0, 3]
    assert set(packed().terms.tolist()) == {hash_term("tea"), hash_term("rain"), hash_term("sun")}


def test_terms_move_with_their_entries() -> None:
    turned = packed().reorder(np.array([3, 1, 0, 2]))
    assert counts(turned, "tea", "rain") == [[2, 0], [0, 1], [1, 1], [0, 0]]
    assert turned.lengths.tolist() == [3, 1, 2, 0]
    assert (turned.times[0] - turned.times[2]) == 3 * 3600
    assert counts(turned.reorder(np.array([1, 3, 2, 0])), "tea") == [[0], [0], [1], [2]]


def test_of_no_entry_there_is_nothing_to_say() -> None:
    assert counts(PackedIndex.unpack(b""), "tea") == []


def test_entries_that_are_left_out_take_their_terms_with_them() -> None:
    kept = packed().reorder(np.array([3, 1]))
    assert counts(kept, "tea", "rain", "sun") == [[2, 0, 1], [0, 1, 0]]
    assert kept.lengths.tolist() == [3, 1]
    assert counts(kept.reorder(np.array([1])), "tea", "rain") == [[0, 1]]
