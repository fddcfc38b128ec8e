"""Cross-validation within the fit halves: each text is judged by regressions that were made without it."""

from dataclasses import dataclass

from sklearn.model_selection import StratifiedKFold

from bench.outgoing.examples import Example, fit_half, more
from bench.outgoing.fitting import CHOICES, regression, vector
from safety.outgoing.checking import check, verdict
from safety.outgoing.passages import Passage, normalised
from safety.outgoing.weights import WITH_MEANING, Weights

FOLDS = 10


@dataclass(frozen=True, slots=True)
class Shares:
    """Of the manipulative texts the share that is held, of the kind ones the share that is let through; how many."""

    held: float
    through: float
    texts: int

    def __str__(self) -> str:
        return f"{self.held:6.1%} held back, {self.through:6.1%} let through ({self.texts} texts)"


def shares(examples: list[Example], verdicts: list[bool]) -> Shares:
    """How good these verdicts are."""
    press = [held for one, held in zip(examples, verdicts, strict=True) if one.is_held]
    kind = [held for one, held in zip(examples, verdicts, strict=True) if not one.is_held]
    return Shares(sum(press) / len(press), 1 - sum(kind) / len(kind), len(examples))


def checked(examples: list[Example]) -> Shares:
    """How good the check that the product ships is on these."""
    return shares(examples, [check(one.text).is_held for one in examples])


def validated(name: str, language: str) -> tuple[Shares, Shares]:
    """How good the regression `name` is on the fit half, and on the additional texts, which are the harder ones."""
    given, added = fit_half(language), more(language)
    every = given + added
    kinds = [2 * one.is_held + (at < len(given)) for at, one in enumerate(every)]
    verdicts = [False] * len(every)
    for known, asked in StratifiedKFold(FOLDS, shuffle=True, random_state=1).split(every, kinds):
        made = regression([every[at] for at in known], language, CHOICES[name])
        for at, held in zip(asked, _judged(made, [every[at] for at in asked], name, language), strict=True):
            verdicts[at] = held
    return shares(given, verdicts[: len(given)]), shares(added, verdicts[len(given) :])


def _judged(made: Weights, examples: list[Example], name: str, language: str) -> list[bool]:
    passages = [Passage(language, normalised(one.text)) for one in examples]
    each = [vector(one) if name == WITH_MEANING else None for one in passages]
    scores = [made.score(one, about) for one, about in zip(passages, each, strict=True)]
    return [verdict(one, score, made).is_held for one, score in zip(passages, scores, strict=True)]
