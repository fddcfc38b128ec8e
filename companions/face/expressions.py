"""What each emotion looks like: numbers for brows, eyes, mouth, blush, tilt and the signs beside a face.

The emotions' names are those of `memory.emotion`. Lengths are in units of the drawing, which measures 200 by 200;
numbers without a unit go from 0 to 1, or from -1 to 1 if they have two directions.
"""

from dataclasses import asdict, dataclass
from typing import Self

from memory.emotion import Emotion


@dataclass(frozen=True, slots=True)
class Expression:
    """The numbers of one expression, the same for every face. Left and right are those of the picture."""

    brow_left: float = 0.0  # higher
    brow_right: float = 0.0
    slant_left: float = 0.0  # the inner end higher
    slant_right: float = 0.0
    open_left: float = 1.0  # share of the eye's usual height
    open_right: float = 1.0
    lid: float = 0.0  # the upper lid's inner end lower
    cheek: float = 0.0  # the lower lid raised by a cheek
    gaze_x: float = 0.0
    gaze_y: float = 0.0
    pupil: float = 1.0
    smile: float = 0.32
    width: float = 1.0  # share of the mouth's usual width
    part: float = 0.0  # how far the lips are apart
    round: float = 0.0
    skew: float = 0.0  # the right corner higher
    wave: float = 0.0
    blush: float = 0.35
    tilt: float = 0.0  # the head's, in degrees to the right
    lean: float = 0.0  # the head lower
    near: float = 1.0
    tear: float = 0.0
    drop: float = 0.0
    hand: float = 0.0
    query: float = 0.0
    sparks: float = 0.0
    rays: float = 0.0
    steam: float = 0.0

    def towards(self, other: Self, share: float) -> "Expression":
        """Return the expression that lies the `share` (0 to 1) of the way from this one to the other."""
        mine, others = asdict(self), asdict(other)
        return Expression(**{name: value + share * (others[name] - value) for name, value in mine.items()})


EXPRESSIONS: dict[Emotion, Expression] = {
    Emotion.NEUTRAL: Expression(),
    Emotion.HAPPY: Expression(
        brow_left=4, brow_right=4, open_left=0.85, open_right=0.85, cheek=1, smile=1, width=1.35, part=0.62,
        blush=0.95, tilt=-2.5,
    ),
    Emotion.SAD: Expression(
        brow_left=1, brow_right=1, slant_left=8, slant_right=8, open_left=0.72, open_right=0.72, lid=-0.8, gaze_y=3.2,
        smile=-0.85, width=0.82, blush=0.15, tilt=4, lean=4, tear=1,
    ),
    Emotion.ANGRY: Expression(
        brow_left=-6, brow_right=-6, slant_left=-9, slant_right=-9, open_left=0.78, open_right=0.78, lid=0.9, pupil=0.9,
        smile=-0.75, width=1.0, part=0.0, blush=0.8, lean=2, steam=1,
    ),
    Emotion.THINK: Expression(
        brow_left=3, brow_right=-1.5, slant_left=-1, slant_right=-3, open_left=0.9, open_right=0.8, gaze_x=5, gaze_y=-4.2,
        smile=-0.22, width=0.6, skew=-0.35, tilt=5, hand=1,
    ),
    Emotion.SURPRISED: Expression(
        brow_left=11, brow_right=11, open_left=1.42, open_right=1.42, cheek=-0.35, pupil=0.72, smile=0, width=0.5,
        part=0.75, round=1, lean=-2, rays=1,
    ),
    Emotion.AWKWARD: Expression(
        brow_left=4, brow_right=3, slant_left=6, slant_right=6, open_left=0.78, open_right=0.78, gaze_x=-5.2, gaze_y=1.5,
        smile=0.1, width=1.05, wave=1, blush=1, tilt=-4, drop=1,
    ),
    Emotion.QUESTION: Expression(
        brow_left=-4, brow_right=10, slant_left=-4, slant_right=2, open_left=0.78, open_right=1.1, gaze_x=1.5, gaze_y=-1,
        smile=-0.45, width=0.68, skew=0.3, tilt=9, query=1,
    ),
    Emotion.CURIOUS: Expression(
        brow_left=8, brow_right=8, slant_left=1.5, slant_right=1.5, open_left=1.26, open_right=1.26, gaze_x=-2.5,
        gaze_y=-1.5, pupil=1.3, smile=0.6, width=0.82, part=0.22, blush=0.6, tilt=-8, lean=2, near=1.05, sparks=1,
    ),
}  # fmt: skip


def express(emotion: str, intensity: float = 1.0) -> Expression:
    """Return the expression of the emotion at this intensity (clamped to 0 to 1); neutral if the emotion is unknown."""
    neutral = EXPRESSIONS[Emotion.NEUTRAL]
    felt = EXPRESSIONS[Emotion(emotion)] if emotion in Emotion.values else neutral
    return neutral.towards(felt, min(max(intensity, 0.0), 1.0))
