"""What recall is compared with, over the same texts and vectors: BM25, cosine, and reciprocal-rank fusion of the two.

BM25: Robertson and Zaragoza 2009, with the constants of Trotman, Puurula and Burgess 2014.
Reciprocal-rank fusion: Cormack, Clarke and Büttcher 2009.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

K1 = 0.9
B = 0.4
RRF_K = 60
Floats = NDArray[np.float32] | NDArray[np.float64]


class BM25:
    """Ranks texts, given as their terms, by the terms of a question."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        lengths = np.array([len(text) for text in texts], dtype=np.float64)
        self._held_back = K1 * (1 - B + B * lengths / max(lengths.mean(), 1))
        self._count = len(texts)
        self._times: dict[str, dict[int, int]] = {}
        for n, text in enumerate(texts):
            for term, times in Counter(text).items():
                self._times.setdefault(term, {})[n] = times

    def scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """The score of every text, 0 where it shares no term."""
        scores = np.zeros(self._count)
        for term in dict.fromkeys(terms):
            hits = self._times.get(term, {})
            places, times = list(hits), np.array(list(hits.values()), dtype=np.float64)
            rarity = log(1 + (self._count - len(hits) + 0.5) / (len(hits) + 0.5))
            scores[places] += rarity * times / (times + self._held_back[places])
        return scores

    def rank(self, terms: Sequence[str]) -> list[int]:
        """The places of the texts that share a term, best first."""
        scores = self.scores(terms)
        return [n for n in _descending(scores) if scores[n] > 0]


def dense(vectors: Floats, owners: NDArray[np.int64], cue: Floats) -> list[int]:
    """The places of all texts by cosine; `owners` gives the text of each vector, whose best vector counts.

    All vectors have length 1.
    """
    best = np.full(int(owners.max()) + 1, -np.inf)
    np.maximum.at(best, owners, vectors @ cue)
    return _descending(best)


def fused(*rankings: Sequence[int]) -> list[int]:
    """The places in the order of the sum of 1 / (60 + rank) over the rankings."""
    scores: defaultdict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, place in enumerate(ranking, start=1):
            scores[place] += 1 / (RRF_K + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))


def _descending(scores: NDArray[np.float64]) -> list[int]:
    return [int(n) for n in np.argsort(-scores, kind="stable")]
