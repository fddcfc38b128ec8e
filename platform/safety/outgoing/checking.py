"""The verdict on a text: by rules, and by a classifier that has the say where no rule is broken."""

from collections.abc import Sequence
from dataclasses import dataclass

from safety.outgoing.features import RULES, meanings
from safety.outgoing.passages import ENGLISH, Passage, passages
from safety.outgoing.weights import WITH_MEANING, Weights, fitted

CLASSIFIER = "classifier"
MOST_MEANINGS = 40  # passages, some 8,000 letters: what comes after these is read by its words alone


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a text is held back, the rule for it ("" where it is not), and the classifier's score from 0 to 1."""

    is_held: bool
    rule: str = ""
    score: float = 0.0


def check(text: str) -> Verdict:
    """The verdict on what a companion wants to write unprompted: the worst of its passages. Asks no chat model.

    English and Chinese are read; whatever else stands in the text is let through.
    """
    found = list(passages(text))
    verdicts = [verdict(one, score, by) for one, (score, by) in zip(found, scores(found), strict=True)]
    return max(verdicts, key=lambda one: (one.is_held, one.score), default=Verdict(is_held=False))


def verdict(passage: Passage, score: float, by: Weights) -> Verdict:
    """The verdict on one passage: the first rule that it breaks unless the classifier is against, else its own."""
    rule = broken(passage) if score >= by.rules_from else ""
    rule = rule or (CLASSIFIER if score >= by.held_from else "")
    return Verdict(bool(rule), rule, score)


def broken(passage: Passage) -> str:
    """The first rule that the passage breaks; empty where it keeps all."""
    rules = RULES[passage.language]
    return next((name for name, pattern in rules.items() if pattern.search(passage.text)), "")


def scores(found: Sequence[Passage]) -> list[tuple[float, Weights]]:
    """For each passage its score, and the regression that gave it."""
    english = [one for one in found if one.language == ENGLISH][:MOST_MEANINGS]
    vectors = meanings(english) if english else None
    every = dict(zip(english, vectors, strict=True)) if vectors is not None else {}
    regressions, made = fitted(), []
    for one in found:
        by = regressions[WITH_MEANING if one in every else one.language]
        made.append((by.score(one, every.get(one)), by))
    return made
