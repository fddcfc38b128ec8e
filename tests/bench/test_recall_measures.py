"""The bench's measures and the plain ways, on figures that can be worked out by hand."""

import math

import numpy as np
import pytest

from bench.recall.measures import Answer, by_category, measure, median_and_p95
from bench.recall.plain import BM25, dense, fused
from bench.recall.tables import table
from bench.recall.talk import Question


def answer(evidence: set[str], found: str, category: int = 1, tokens: int = 0) -> Answer:
    return Answer(Question("?", category, frozenset(evidence)), found.split(), tokens)


def test_a_share_is_of_the_questions_evidence() -> None:
    one = answer({"a", "b"}, "x a y z w b")
    assert [one.share(depth) for depth in (1, 5, 10)] == [0, 0.5, 1]
    assert one.is_whole
    assert one.reciprocal_rank == 0.5
    assert answer({"a"}, "x y").reciprocal_rank == 0


def test_measures_are_means_over_questions() -> None:
    measured = measure([answer({"a", "b"}, "a", tokens=10), answer({"a"}, "x a", tokens=30)])
    assert measured.questions == 2
    assert measured.shares == (0.75, 0.75, 0.75)
    assert (measured.whole, measured.mrr, measured.tokens) == (0.5, 0.75, 20)


def test_categories_are_named_as_in_the_datasets_paper() -> None:
    every = [answer({"a"}, "a", category) for category in (5, 4, 3, 2, 1, 9)]
    names = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial", "category 9"]
    assert list(by_category(every)) == names


def test_the_95th_percentile_lies_near_the_top() -> None:
    assert median_and_p95(list(range(101))) == (50, 95)


def test_bm25_follows_its_formula() -> None:
    """Of two texts one holds the word, once, and is as long as the average: nothing of it is held back."""
    score = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5)) / (1 + 0.9)
    assert BM25([["tea", "cup"], ["rain", "rain"]]).scores(["tea", "snow"]) == pytest.approx([score, 0])


def test_bm25_prefers_the_repeated_word_and_the_shorter_text() -> None:
    texts = BM25([["tea", "cup", "jug"], ["tea"], ["tea", "tea", "tea"], ["rain"]])
    assert texts.rank(["tea"]) == [2, 1, 0]
    assert texts.rank(["snow"]) == []


def test_of_a_long_texts_vectors_the_best_counts() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)
    assert dense(vectors, np.array([0, 0, 1]), np.array([0, 1], dtype=np.float32)) == [0, 1]
    assert dense(vectors, np.array([0, 1, 2]), np.array([0, 1], dtype=np.float32)) == [1, 2, 0]


def test_fusion_adds_the_reciprocals_of_ranks_and_sixty() -> None:
    assert fused([1, 2], [2, 3]) == [2, 1, 3]
    assert fused([7], []) == [7]


def test_a_table_is_plain_or_markdown() -> None:
    assert table(["way", "@5"], [["Kith", "9.1"]]) == "way    @5\nKith  9.1"
    assert table(["way", "@5"], [["Kith", "9.1"]], is_markdown=True) == (
        "| way  |  @5 |\n|:-----|----:|\n| Kith | 9.1 |"
    )
