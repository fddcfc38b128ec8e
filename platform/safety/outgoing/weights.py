"""The classifier: logistic regressions, as a file of numbers that `python -m bench.outgoing fit` writes."""

from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from pathlib import Path

import numpy as np

from providers.vectors import Floats
from safety.outgoing.features import BUCKETS, SIGNS, buckets, signs
from safety.outgoing.passages import CHINESE, ENGLISH, Passage

FITTED = Path(__file__).with_name("fitted.npz")
WITH_MEANING = "en_meaning"
LANGUAGES = {ENGLISH: ENGLISH, WITH_MEANING: ENGLISH, CHINESE: CHINESE}  # of each regression


@dataclass(frozen=True, slots=True)
class Weights:
    """One regression: the scores from which a text is held, the bias, and a weight for each number of a passage."""

    held_from: float
    rules_from: float  # the same where a rule is broken; below it the words are taken to mean something else
    bias: float
    signs: Floats
    buckets: Floats
    meaning: Floats

    def score(self, passage: Passage, meaning: Floats | None = None) -> float:
        """How sure it is that the passage presses on feelings, from 0 to 1."""
        total = self.bias + float(self.signs @ signs(passage))
        for found in buckets(passage):
            total += float(self.buckets[found].sum()) / sqrt(max(len(found), 1))
        if meaning is not None:
            total += float(self.meaning @ meaning)
        return 1 / (1 + exp(-max(min(total, 50.0), -50.0)))

    def packed(self) -> Floats:
        """All numbers in a row, as they stand in the file: (3 + signs + BUCKETS + dimensions,)."""
        first = np.array([self.held_from, self.rules_from, self.bias], dtype=np.float32)
        return np.concatenate([first, self.signs, self.buckets, self.meaning])


def unpacked(row: Floats, language: str) -> Weights:
    """The regression of that row."""
    middle = 3 + len(SIGNS[language])
    return Weights(
        float(row[0]),
        float(row[1]),
        float(row[2]),
        row[3:middle],
        row[middle : middle + BUCKETS],
        row[middle + BUCKETS :],
    )


@cache
def fitted() -> dict[str, Weights]:
    """The regressions of this version: for English with and without its meaning, and for Chinese."""
    with np.load(FITTED, allow_pickle=False) as read:
        return {
            name: unpacked(read[name].astype(np.float32), language) for name, language in LANGUAGES.items()
        }
