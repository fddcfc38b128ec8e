"""How a companion feels, and how that fades. Pure.

Every feeling drifts back to nothing: half of it is left after twelve hours, a quarter after a day.
"""

from dataclasses import dataclass
from datetime import datetime
from math import exp2

from memory.emotion import Emotion
from memory.scoring.remembered import days_between, require

HALF_LIFE_HOURS = 12.0
MIN_INTENSITY = 0.1  # an emotion weaker than this does not show


@dataclass(frozen=True, slots=True)
class Feeling:
    """Valence from -1 (bad) to 1 (good), arousal from 0 (calm) to 1 (stirred), and an emotion with its intensity, 0 to 1;
    ValueError otherwise.
    """

    valence: float = 0.0
    arousal: float = 0.0
    emotion: Emotion = Emotion.NEUTRAL
    intensity: float = 0.0

    def __post_init__(self) -> None:
        require("valence", self.valence, -1, 1)
        require("arousal", self.arousal, 0, 1)
        require("intensity", self.intensity, 0, 1)
        object.__setattr__(self, "emotion", Emotion(self.emotion))

    @classmethod
    def clamped(cls, valence: float, arousal: float, emotion: str, intensity: float) -> "Feeling":
        """Return the nearest feeling that there is: 0 for what is no number, neutral for a strange emotion."""
        return cls(
            valence=_clamp(valence, -1.0),
            arousal=_clamp(arousal, 0.0),
            emotion=Emotion(emotion) if emotion in Emotion.values else Emotion.NEUTRAL,
            intensity=_clamp(intensity, 0.0),
        )

    @property
    def told(self) -> str:
        """The feeling as a prompt tells it."""
        numbers = f"valence {self.valence:.2f} (-1 to 1), arousal {self.arousal:.2f} (0 to 1)"
        return f"{self.emotion} {self.intensity:.2f} (0 to 1), {numbers}"


CALM = Feeling()


def fade(feeling: Feeling, since: datetime, now: datetime) -> Feeling:
    """Return what is left at `now` of a feeling: each number times 2^(-hours / 12), neutral once too weak."""
    left = exp2(-days_between(since, now) * 24 / HALF_LIFE_HOURS)
    intensity = feeling.intensity * left
    return Feeling(
        valence=feeling.valence * left,
        arousal=feeling.arousal * left,
        emotion=feeling.emotion if intensity >= MIN_INTENSITY else Emotion.NEUTRAL,
        intensity=intensity,
    )


def sway(mood: float, valence: float) -> float:
    """Return a mood (-1 to 1) with a valence on top of it, still from -1 to 1."""
    return _clamp(mood + valence, -1.0)


def _clamp(value: float, least: float) -> float:
    return min(max(value, least), 1.0) if value == value else 0.0  # NaN is not itself
