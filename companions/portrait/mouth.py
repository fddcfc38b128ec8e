"""The mouth of a face as paths that follow its expression."""

from dataclasses import dataclass

from companions.portrait.expressions import Expression
from companions.portrait.features import Features
from companions.portrait.path import Point, curve, joined

X, Y = 100.0, 133.0


@dataclass(frozen=True, slots=True)
class MouthShape:
    half: float  # of its width
    upper: float  # how thick the lips are
    lower: float
    tint: float  # how much their colour shows


MOUTHS = {
    "plain": MouthShape(17.0, 1.6, 3.4, 0.5),
    "full": MouthShape(17.5, 3.8, 5.6, 0.95),
    "small": MouthShape(14.0, 2.2, 4.0, 0.7),
    "wide": MouthShape(20.0, 1.8, 3.6, 0.6),
}


def shape_of(features: Features) -> MouthShape:
    """Its mouth; in a beard full lips, that they are seen."""
    return MOUTHS["full"] if features.beard in {"short", "full"} else MOUTHS[features.mouth]


@dataclass(frozen=True, slots=True)
class _Line:
    half: float
    left: float
    middle: float
    right: float
    wave: float = 0.0
    round: float = 0.0

    def points(self) -> list[Point]:
        half, wave, out, off = self.half, 7.5 * self.wave, 0.8 + 0.2 * self.round, 0.45 + 0.1 * self.round
        return [
            Point(X - half, Y + self.left),
            Point(X - out * half, Y + self.left + 0.55 * (self.middle - self.left) - wave),
            Point(X - off * half, Y + self.middle + wave),
            Point(X, Y + self.middle),
            Point(X + off * half, Y + self.middle - wave),
            Point(X + out * half, Y + self.right + 0.55 * (self.middle - self.right) + wave),
            Point(X + half, Y + self.right),
        ]


def _lines(shape: MouthShape, felt: Expression) -> tuple[_Line, _Line, _Line]:
    """The line of the upper lip, that of the teeth below it, and that of the lower lip."""
    half, corner = shape.half * felt.width, -5.5 * felt.smile
    middle, depth = 4.4 * felt.smile - 4 * felt.part - 6 * felt.part * felt.round, 24 * felt.part
    corner += felt.round * (middle + 0.5 * depth - corner)
    left, right = corner + 5 * felt.skew, corner - 5 * felt.skew
    bites = min(0.42 * depth, 5.5) * (1 - felt.round)
    upper, teeth, lower = (
        _Line(half, left, middle + below, right, felt.wave, felt.round) for below in (0.0, bites, depth)
    )
    return upper, teeth, lower


def mouth(shape: MouthShape, felt: Expression) -> dict[str, str]:
    """The opening between the lips, the teeth, the tongue, the lips and the shadow below them."""
    upper, teeth, lower = _lines(shape, felt)
    tongue = _Line(lower.half, lower.left, lower.middle - 8 * felt.part, lower.right, lower.wave, lower.round)
    above = [
        Point(one.x, one.y - thick) for one, thick in zip(upper.points(), _thick(shape.upper), strict=True)
    ]
    below = [
        Point(one.x, one.y + thick) for one, thick in zip(lower.points(), _thick(shape.lower), strict=True)
    ]
    shadow = Y + lower.middle + shape.lower + 5.5
    chin = [(-6.0, 0.0), (-2.5, 2.0), (2.5, 2.0), (6.0, 0.0)]
    return {
        "opening": _between(upper.points(), lower.points()),
        "teeth": _between(upper.points(), teeth.points()),
        "tongue": _between(tongue.points(), lower.points()),
        "lips": _between(above, below),
        "chin": curve([Point(X + aside, shadow + below) for aside, below in chin]),
    }  # fmt: skip


def _thick(most: float) -> list[float]:
    return [0.0, 0.62 * most, most, 0.86 * most, most, 0.62 * most, 0.0]


def _between(one: list[Point], other: list[Point]) -> str:
    """The shape between two lines that share their ends."""
    return joined(curve(one), curve(list(reversed(other)), begins=False, leads=True)) + "Z"
