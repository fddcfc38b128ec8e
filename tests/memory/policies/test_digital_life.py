"""DigitalLife: 1 to 3 above .7 alone, else the three likest above .6."""

import pytest

from memory.scoring.policies import DigitalLife
from tests.memory.policies.conftest import Row


@pytest.mark.parametrize(
    ("likenesses", "coming"),
    [
        ([0.9, 0.65, 0.62], [0.9]),
        ([0.65, 0.75, 0.9, 0.71], [0.75, 0.9, 0.71]),
        ([0.71, 0.72, 0.73, 0.74], [0.72, 0.73, 0.74]),
        ([0.65, 0.62], [0.65, 0.62]),
        ([0.61, 0.62, 0.63, 0.64], [0.62, 0.63, 0.64]),
        ([0.7, 0.65, 0.6], [0.7, 0.65]),
        ([0.6, 0.1, -0.5], []),
        ([], []),
    ],
)
def test_the_few_that_are_clearly_alike_else_the_three_likest(
    row: Row, likenesses: list[float], coming: list[float]
) -> None:
    scores = DigitalLife().score([row(likeness=likeness) for likeness in likenesses])
    assert [score for score in scores if score is not None] == coming


def test_what_is_as_like_as_the_third_comes_too(row: Row) -> None:
    rows = [row(likeness=likeness) for likeness in (0.65, 0.64, 0.63, 0.63, 0.62)]
    assert DigitalLife().score(rows) == [0.65, 0.64, 0.63, 0.63, None]


def test_without_an_embedding_it_does_not_come(row: Row) -> None:
    assert DigitalLife().score([row(likeness=None), row(likeness=0.8)]) == [None, 0.8]


def test_its_numbers_can_be_set(row: Row) -> None:
    rows = [row(likeness=likeness) for likeness in (0.5, 0.4, 0.3)]
    assert DigitalLife(floor=0.35, clear=0.45, few=1).score(rows) == [0.5, None, None]
    with pytest.raises(ValueError, match="clear"):
        DigitalLife(floor=0.8, clear=0.7)
