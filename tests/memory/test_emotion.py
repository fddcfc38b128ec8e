"""How recalls and moods move a memory's feeling, and how deep a memory sits."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.emotion import Depth, Reaction, depth, reaction_to
from tests.memory.feelings import Feeling

FEELINGS = st.builds(Feeling, st.floats(0, 1), st.floats(0, 1))


@pytest.mark.parametrize(
    ("reaction", "joy", "aversion"),
    [
        ("strong_joy", 0.7, 0.4),
        ("joy", 0.6, 0.45),
        ("neutral", 0.5, 0.5),
        ("aversion", 0.45, 0.6),
        ("strong_aversion", 0.4, 0.7),
    ],
)
def test_each_reaction_shifts_as_in_the_table(reaction: str, joy: float, aversion: float) -> None:
    assert Feeling(0.5, 0.5).after(Reaction(reaction)) == Feeling(joy, aversion)


@pytest.mark.parametrize(
    ("before", "reaction", "after"),
    [
        ((0.95, 0.05), "strong_joy", (1, 0)),
        ((1, 0), "joy", (1, 0)),
        ((0, 1), "strong_aversion", (0, 1)),
        ((0.02, 0.95), "aversion", (0, 1)),
    ],
)
def test_a_feeling_stays_between_nothing_and_all(
    before: tuple[float, float], reaction: str, after: tuple[float, float]
) -> None:
    assert Feeling(*before).after(Reaction(reaction)) == Feeling(*after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((0.5, 0.2), (0.55, 0.2)),
        ((0.3, 0.2), (0.3, 0.2)),
        ((0.31, 0.3), (0.36, 0.3)),
        ((0.4, 0.5), (0.4, 0.55)),
        ((0.5, 0.5), (0.5, 0.55)),
        ((0, 0.3), (0, 0.3)),
        ((0.99, 0), (1, 0)),
    ],
)
def test_the_stronger_feeling_grows_when_it_stirs_of_itself(
    before: tuple[float, float], after: tuple[float, float]
) -> None:
    assert Feeling(*before).stirred() == Feeling(*after)


def test_three_joys_make_exactly_three_tenths() -> None:
    assert Feeling().after(Reaction.JOY).after(Reaction.JOY).after(Reaction.JOY).stirred() == Feeling(0.3, 0)


@given(FEELINGS, st.sampled_from(Reaction), st.sampled_from(Reaction))
def test_joy_never_lessens_joy_and_aversion_never_aversion(
    feeling: Feeling, one: Reaction, two: Reaction
) -> None:
    glad, sore = sorted((one, two), key=list(Reaction).index)
    assert feeling.after(glad).joy >= feeling.after(sore).joy
    assert feeling.after(glad).aversion <= feeling.after(sore).aversion


@pytest.mark.parametrize(
    ("mood", "reaction"),
    [
        (1, "strong_joy"),
        (0.6, "strong_joy"),
        (0.59, "joy"),
        (0.2, "joy"),
        (0.19, "neutral"),
        (0, "neutral"),
        (-0.19, "neutral"),
        (-0.2, "aversion"),
        (-0.59, "aversion"),
        (-0.6, "strong_aversion"),
        (-1, "strong_aversion"),
    ],
)
def test_a_mood_takes_a_recall_in_five_steps(mood: float, reaction: str) -> None:
    assert reaction_to(mood) == reaction


@pytest.mark.parametrize("bad", [nan, inf, -inf, 1.01, -1.01])
def test_a_mood_or_feeling_that_is_no_number_in_range_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="mood"):
        reaction_to(bad)
    with pytest.raises(ValueError, match="joy"):
        Feeling(joy=bad)
    with pytest.raises(ValueError, match="aversion"):
        Feeling(aversion=bad)


@pytest.mark.parametrize(
    ("recalls", "label"),
    [
        (0, "short_term"),
        (1, "working"),
        (4, "working"),
        (5, "long_term"),
        (39, "long_term"),
        (40, "muscle"),
        (10**9, "muscle"),
    ],
)
def test_recalls_make_a_memory_sit_deeper(recalls: int, label: str) -> None:
    assert depth(recalls) == Depth(label)


def test_a_negative_number_of_recalls_is_refused() -> None:
    with pytest.raises(ValueError, match="recalls"):
        depth(-1)
