"""What a comparison of two models calls different, over many drawn talks: equals hardly ever, two manners always."""

import numpy as np
import pytest

from companions.minds.comparison.measures import Answer, Occasion, find_language, is_formal, share_remembered
from companions.minds.comparison.report import describe_weight, measure_differences
from companions.minds.comparison.statistics import CLEAR_P, Floats, compare

TALKS = 150


def draw_manner(chance: np.random.Generator, count: int, questions: float = 0.4) -> dict[str, Floats]:
    """Draw lengths with a long tail, questions, rare mentions of a name, and a share of memories, all of one manner."""
    return {
        "length": chance.lognormal(4.5, 0.5, count),
        "questions": chance.poisson(questions, count).astype(np.float64),
        "name": (chance.random(count) < 0.2).astype(np.float64),
        "formal": np.zeros(count),
        "memory": chance.beta(1, 6, count),
    }


@pytest.mark.parametrize("count", [8, 50])
def test_equals_are_called_different_in_at_most_one_talk_of_twenty(count: int) -> None:
    false = 0
    for seed in range(TALKS):
        chance = np.random.default_rng(seed)
        shift = chance.normal(size=(count, 16)) - chance.normal(size=(count, 16))
        found, p = compare(draw_manner(chance, count), draw_manner(chance, count), shift, seed)
        assert p is not None
        false += min(p, *(difference.p for difference in found.values())) < CLEAR_P
    assert false <= 0.05 * TALKS


def test_two_manners_are_told_apart_at_fifty_replies() -> None:
    for seed in range(20):
        chance = np.random.default_rng(seed)
        own, other = draw_manner(chance, 50), draw_manner(chance, 50, questions=1.6)
        difference = compare(own, other, None, seed)[0]["questions"]
        assert difference.p < 0.01
        assert 0 < difference.low < difference.difference < difference.high


def test_five_answers_say_that_they_show_nothing() -> None:
    occasion = Occasion("Hello there", [], "Alice")
    exchanges = [(occasion, Answer("Yes."), Answer("Is it so? And why?" * number)) for number in range(1, 6)]
    report = measure_differences(exchanges, None, seed=1)
    assert min(told["p"] for told in report["measures"].values()) >= CLEAR_P
    assert describe_weight(report).startswith("5 answers from each are too few")


@pytest.mark.parametrize(
    ("text", "language", "formal"),
    [
        ("Wie geht es dir, und was machst du heute?", "de", 0),
        ("Das ist gut, und wie geht es Ihnen heute?", "de", 1),
        ("Je suis là pour vous et pour votre fille.", "fr", 1),
        ("您今天怎么样?", "zh", 1),
        ("你今天怎么样?", "zh", 0),
        ("The tea is ready and you are welcome.", "en", 0),
        ("Mmm.", "", 0),
    ],
)
def test_language_and_address_are_read_from_the_words(text: str, language: str, formal: int) -> None:
    assert (find_language(text), is_formal(Answer(text), Occasion("", [], ""))) == (language, formal)


def test_what_the_person_said_themselves_is_no_use_of_memory() -> None:
    occasion = Occasion("My sister plays chess", ["Her sister Ines plays chess in Vienna"], "Alice")
    assert share_remembered(Answer("Your sister plays chess!"), occasion) == 0
    assert share_remembered(Answer("Ines, in Vienna?"), occasion) == 1
