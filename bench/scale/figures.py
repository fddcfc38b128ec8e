"""What was measured, as figures, and whether they are what was aimed at."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from bench.recall.measures import median_and_p95
from bench.scale.asking import Asked

MOST_TIMES, MOST_MORE = 3.0, 5.0  # recall's SQL against the bare search: times, or milliseconds more
MOST_TIMES_CROWDED = 1.5  # among a million memories in all, against ten thousand
AIMED_AT = (1_000, 10_000)  # the sizes for which the first of these is a target
PARTS = ("entries", "likeness", "closer look", "texts")  # recall's statements, in their order


@dataclass(frozen=True)
class Figures:
    """The milliseconds of one set of cues, each a median and a 95th percentile; `parts` are medians."""

    label: str
    sql: tuple[float, float]
    bare: tuple[float, float]
    recall: tuple[float, float]
    embedding: tuple[float, float]
    whole: tuple[float, float]
    parts: tuple[float, ...]

    @classmethod
    def of(cls, label: str, asked: Sequence[Asked]) -> "Figures":
        """The figures of at least one cue."""
        names = ("sql", "bare", "recall", "embedding", "whole")
        timed = {name: median_and_p95([getattr(one, name) for one in asked]) for name in names}
        columns = zip_longest(*(one.statements for one in asked), fillvalue=0.0)
        return cls(label, **timed, parts=tuple(float(np.median(column)) for column in columns))

    @property
    def times(self) -> float:
        """How many times as long as the bare search recall's SQL takes, by the medians."""
        return self.sql[0] / self.bare[0]

    @property
    def more(self) -> float:
        """How many milliseconds longer it takes, by the medians."""
        return self.sql[0] - self.bare[0]

    @property
    def is_near(self) -> bool:
        """Whether recall's SQL takes little more than the bare search."""
        return self.times <= MOST_TIMES or self.more <= MOST_MORE

    def grown(self, before: "Figures") -> float:
        """How many times as long recall takes as before, by the medians."""
        return self.recall[0] / before.recall[0]


def parts(count: int) -> list[str]:
    """What recall's statements are for, where there are as many as expected; else their numbers."""
    return list(PARTS) if count == len(PARTS) else [f"statement {n}" for n in range(1, count + 1)]


def told(is_so: bool) -> str:
    """Whether a target is reached, in a word."""
    return "reached" if is_so else "MISSED"
