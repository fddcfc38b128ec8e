"""The eyes and brows of a face as paths that follow its expression. The eyes stand at their own place on the drawing."""

from dataclasses import dataclass

from companions.portrait.expressions import Expression
from companions.portrait.path import Point, curve, joined, moved

HALF = 12.5  # of an eye's width
Y = 99.0
X = {"left": 76.0, "right": 124.0}
INWARDS = {"left": 1.0, "right": -1.0}


@dataclass(frozen=True, slots=True)
class EyeShape:
    """How far the lids are from the corners' line, and how much higher the outer corner is."""

    upper: float
    lower: float
    outer: float = 0.0
    crease: float = 5.0
    lashes: bool = False


EYES = {
    "almond": EyeShape(8.8, 6.6, 1.2),
    "round": EyeShape(10.6, 8.2),
    "upturned": EyeShape(8.8, 5.8, 3.4),
    "hooded": EyeShape(7.6, 6.0, -0.8, crease=2.6),
    "lashes": EyeShape(9.8, 6.8, 1.6, lashes=True),
}


@dataclass(frozen=True, slots=True)
class BrowShape:
    thick: float
    arch: float
    length: float = 1.0


BROWS = {
    "soft": BrowShape(4.4, 3.4),
    "straight": BrowShape(4.8, 1.0),
    "arched": BrowShape(3.8, 5.6),
    "full": BrowShape(6.6, 2.8, 1.08),
}


def _lids(side: str, shape: EyeShape, felt: Expression) -> tuple[list[Point], list[Point]]:
    """The upper lid from the outer corner to the inner one, and the lower one back."""
    inwards, openness = INWARDS[side], felt.open_left if side == "left" else felt.open_right
    upper = shape.upper * openness
    inner, outer = upper - 6 * max(felt.lid, 0.0), upper + 6 * min(felt.lid, 0.0)
    lower = shape.lower * (0.5 + 0.5 * openness)
    lower -= felt.cheek * (lower + 0.62 * upper)
    ends = Point(-inwards * HALF, -shape.outer), Point(inwards * HALF, 1.0)
    over = [Point(-inwards * 8, -1.33 * outer - shape.outer / 2), Point(inwards * 6, -1.33 * inner)]
    under = [Point(inwards * 6, 1.33 * lower), Point(-inwards * 8, 1.33 * lower - shape.outer / 2)]
    return [ends[0], *over, ends[1]], [ends[1], *under, ends[0]]


def eye(side: str, shape: EyeShape, felt: Expression) -> dict[str, str]:
    """The opening, the line of the upper lid, its crease and its lashes."""
    upper, lower = (moved(line, X[side], Y) for line in _lids(side, shape, felt))
    outwards = -INWARDS[side]
    flick = Point(upper[0].x + outwards * 2.6, upper[0].y - 0.6)
    raised = [Point(one.x, one.y - thick) for one, thick in zip(upper, (1.4, 5.4, 4.2, 0.6), strict=True)]
    crease = [Point(one.x, one.y - shape.crease) for one in upper]
    crease[0] = Point(crease[0].x + 2.5 * outwards, crease[0].y + 1)
    lash = [
        Point(upper[0].x + 2 * outwards, upper[0].y - 2),
        Point(upper[0].x + 7 * outwards, upper[0].y - 5.5),
    ]
    second = [
        Point(upper[0].x - outwards, upper[0].y - 4.5),
        Point(upper[0].x + 3.4 * outwards, upper[0].y - 9.5),
    ]
    return {
        "opening": joined(curve(upper), curve(lower, begins=False)) + "Z",
        "lid": joined(curve([flick, *upper[1:]]), curve(list(reversed(raised)), begins=False, leads=True)) + "Z",
        "crease": curve(crease),
        "lashes": joined(curve(lash), curve(second)),
    }  # fmt: skip


def gaze(side: str, felt: Expression) -> str:
    """Where the iris of an eye stands, as a transform."""
    return f"translate({X[side] + felt.gaze_x:.2f} {Y + 0.6 + felt.gaze_y:.2f})"


def brow(side: str, shape: BrowShape, felt: Expression) -> str:
    """A stroke that thins to the outside, drawn as a shape."""
    inwards = INWARDS[side]
    up, slant = (felt.brow_left, felt.slant_left) if side == "left" else (felt.brow_right, felt.slant_right)
    high = 76.5 - up
    inner = Point(X[side] + inwards * 11.5, high + 1.5 - slant)
    outer = Point(X[side] - inwards * 15 * shape.length, high + 3.5 + 0.45 * slant)
    along = [
        inner,
        Point(X[side] + inwards * 4, high - shape.arch - 0.55 * slant),
        Point(X[side] - inwards * 7, high - 1.25 * shape.arch - 0.05 * slant),
        outer,
    ]
    back = [
        Point(one.x, one.y + thick)
        for one, thick in zip(along, (shape.thick, shape.thick * 1.05, shape.thick * 0.8, 0.8), strict=True)
    ]
    return joined(curve(along), curve(list(reversed(back)), begins=False, leads=True)) + "Z"
