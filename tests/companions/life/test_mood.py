from datetime import UTC, datetime, timedelta
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companions.life.inner_state import CALM, Feeling, fade, sway
from memory.emotion import Emotion

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
GLAD = Feeling(0.8, 0.6, Emotion.HAPPY, 0.4)
FEELINGS = st.builds(
    Feeling, st.floats(-1, 1), st.floats(0, 1), st.sampled_from(list(Emotion)), st.floats(0, 1)
)


@pytest.mark.parametrize(
    ("hours", "valence", "arousal", "emotion", "intensity"),
    [
        (0, 0.8, 0.6, "happy", 0.4),
        (12, 0.4, 0.3, "happy", 0.2),
        (24, 0.2, 0.15, "happy", 0.1),
        (36, 0.1, 0.075, "neutral", 0.05),
    ],
)
def test_half_of_a_feeling_is_left_after_twelve_hours(
    hours: int, valence: float, arousal: float, emotion: str, intensity: float
) -> None:
    left = fade(GLAD, NOON, NOON + timedelta(hours=hours))
    assert left == Feeling(valence, arousal, Emotion(emotion), intensity)


def test_a_clock_that_went_back_takes_nothing_away() -> None:
    assert fade(GLAD, NOON, NOON - timedelta(hours=1)) == GLAD


@given(FEELINGS, st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=3000)))
def test_every_feeling_drifts_toward_calm_and_keeps_its_sign(feeling: Feeling, gone: timedelta) -> None:
    left = fade(feeling, NOON, NOON + gone)
    assert abs(left.valence) <= abs(feeling.valence)
    assert left.valence * feeling.valence >= 0
    assert left.arousal <= feeling.arousal
    assert left.intensity <= feeling.intensity
    assert left.emotion in (feeling.emotion, Emotion.NEUTRAL)


@pytest.mark.parametrize(
    "wrong",
    [
        {"valence": -1.01},
        {"valence": nan},
        {"arousal": -0.1},
        {"arousal": 1.1},
        {"intensity": inf},
        {"emotion": "bored"},
    ],
)
def test_a_feeling_outside_of_its_bounds_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be a number|not a valid"):
        Feeling(**wrong)


@pytest.mark.parametrize(
    ("given_", "nearest"),
    [
        ((7.0, -3.0, "bored", inf), Feeling(1, 0, Emotion.NEUTRAL, 1)),
        ((-inf, nan, "sad", nan), Feeling(-1, 0, Emotion.SAD, 0)),
        ((0.1, 0.2, "curious", 0.3), Feeling(0.1, 0.2, Emotion.CURIOUS, 0.3)),
    ],
)
def test_what_is_no_feeling_becomes_the_nearest_one(
    given_: tuple[float, float, str, float], nearest: Feeling
) -> None:
    assert Feeling.clamped(*given_) == nearest


def test_a_mood_is_swayed_within_its_bounds() -> None:
    assert sway(0.25, 0.5) == 0.75
    assert (sway(0.8, 0.8), sway(-0.8, -0.8)) == (1, -1)
    assert sway(0.3, CALM.valence) == 0.3
