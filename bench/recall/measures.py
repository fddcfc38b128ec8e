"""How well the right turns were found: shares of a question's evidence, means over many questions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from bench.recall.talk import Question

GIVEN = 10  # how many results stand for the context that a reply is given
DEPTHS = (5, 10, 25)


@dataclass(frozen=True)
class Answer:
    """The ids of the distinct turns that a question brought to mind, best first, and the tokens of the first ten."""

    question: Question
    found: Sequence[str]
    tokens: int

    def share(self, depth: int) -> float:
        """How much of the evidence is among the first `depth`, 0 to 1."""
        return len(self.question.evidence & set(self.found[:depth])) / len(self.question.evidence)

    @property
    def is_whole(self) -> bool:
        """Whether all of the evidence is among the first ten."""
        return self.share(GIVEN) == 1

    @property
    def reciprocal_rank(self) -> float:
        """One divided by the rank of the first evidence, 0 where none was found."""
        ranks = (rank for rank, id in enumerate(self.found, start=1) if id in self.question.evidence)
        return 1 / next(ranks, float("inf"))


@dataclass(frozen=True)
class Measures:
    """Means over questions: `shares` at each of DEPTHS, `whole` at ten, `mrr`, `tokens` of the first ten."""

    questions: int
    shares: tuple[float, ...]
    whole: float
    mrr: float
    tokens: float


def measure(answers: Sequence[Answer]) -> Measures:
    """The means over at least one answer."""
    return Measures(
        questions=len(answers),
        shares=tuple(_mean(one.share(depth) for one in answers) for depth in DEPTHS),
        whole=_mean(one.is_whole for one in answers),
        mrr=_mean(one.reciprocal_rank for one in answers),
        tokens=_mean(one.tokens for one in answers),
    )


def by_category(answers: Iterable[Answer]) -> dict[str, Measures]:
    """The measures of each category, in the order of the categories' numbers."""
    ordered = sorted(answers, key=lambda one: one.question.category)
    groups = groupby(ordered, key=lambda one: one.question.category_name)
    return {name: measure(list(group)) for name, group in groups}


def median_and_p95(values: Sequence[float]) -> tuple[float, float]:
    """The median and the 95th percentile."""
    median, p95 = np.percentile(values, [50, 95])
    return float(median), float(p95)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
