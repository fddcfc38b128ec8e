"""What neighbours lend each other."""

import numpy as np

from memory.recall.relevance import best_of_talk, smooth_over_neighbours, split_into_talks

BEFORE, AFTER = (0.5, 0.3, 0.2), (0.4, 0.2, 0.1)


def test_each_lends_a_share_and_nobody_beyond_the_talk() -> None:
    talks = np.array([0, 0, 0, 1, 1])
    lent = smooth_over_neighbours(np.array([0.0, 1.0, 0.0, 0.0, 2.0]), talks, BEFORE, AFTER)
    assert lent.tolist() == [0.4, 1.0, 0.5, 0.8, 2.0]


def test_of_few_or_none_nothing_is_lent() -> None:
    for n in (0, 1):
        assert smooth_over_neighbours(np.ones(n), np.arange(n), BEFORE, AFTER).tolist() == [1.0] * n
        assert best_of_talk(np.ones(n), np.arange(n)).tolist() == [1.0] * n


def test_an_hour_of_silence_begins_another_talk() -> None:
    talks = split_into_talks(np.array([0.0, 3600.0, 7201.0, 7202.0]))
    assert talks.tolist() == [0, 0, 1, 1]
    assert best_of_talk(np.array([1.0, 3.0, 2.0, 0.0]), talks).tolist() == [3.0, 3.0, 2.0, 2.0]
