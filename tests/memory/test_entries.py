"""Packed entries: put in order, thinned out, and asked for terms."""

from datetime import UTC, datetime, timedelta

import numpy as np

from memory.entries import Entries, code, pack
from memory.traits import Trait

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SAID = [["tea", "rain"], ["rain"], [], ["tea", "tea", "sun"]]


def packed() -> Entries:
    """Four memories, an hour apart."""
    hours = (pack(NOON + timedelta(hours=n), Trait.OF_USER, words) for n, words in enumerate(SAID))
    return Entries.unpack(b"".join(hours))


def says(entries: Entries, *words: str) -> list[tuple[int, str]]:
    """Where the words are said, as often as they are."""
    wanted = sorted(words, key=code)
    places, at = entries.having([code(word) for word in wanted])
    return sorted((place, wanted[which]) for place, which in zip(places.tolist(), at.tolist(), strict=True))


def test_terms_are_found_where_they_were_packed() -> None:
    assert says(packed(), "tea", "sun", "snow") == [(0, "tea"), (3, "sun"), (3, "tea"), (3, "tea")]
    assert packed().lengths.tolist() == [2, 1, 0, 3]


def test_terms_move_with_their_entries() -> None:
    turned = packed().sorted(np.array([3, 1, 0, 2]))
    assert says(turned, "tea", "rain") == [(0, "tea"), (0, "tea"), (1, "rain"), (2, "rain"), (2, "tea")]
    assert (turned.times[0] - turned.times[2]) == 3 * 3600


def test_what_is_left_out_says_nothing_whatever_is_done_afterwards() -> None:
    kept = packed().sorted(np.array([3, 1, 0, 2])).only(np.array([False, True, True, True]))
    assert says(kept, "tea", "sun", "rain") == [(0, "rain"), (1, "rain"), (1, "tea")]
    again = kept.sorted(np.array([2, 1, 0])).only(np.array([True, True, False]))
    assert says(again, "tea", "sun", "rain") == [(1, "rain"), (1, "tea")]
    assert set(again.codes.tolist()) == {code("tea"), code("rain")}
    assert again.lengths.tolist() == [0, 2]


def test_of_no_entry_there_is_nothing_to_say() -> None:
    assert says(Entries.unpack(b""), "tea") == []
    assert says(packed().only(np.zeros(4, dtype=bool)), "tea") == []
