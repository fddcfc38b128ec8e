"""A portrait as SVG: templates/face/portrait.svg, filled with the parts, the colours and the pose of one face.

A pose holds the moving parts' SVG attributes for one expression. All poses have their numbers in the same places, so
that a browser can animate from one pose to another by interpolating the numbers.
"""

import hashlib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from companions.face.expressions import EXPRESSIONS, Expression
from companions.face.portraits import Features
from files.responses import HEADERS, is_known
from memory.emotion import Emotion

Pose = dict[str, dict[str, str]]
PALETTE: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("palette.toml").read_text()
)
PARTS = ("face", "hair", "nose", "beard", "skin_marks", "glasses", "earrings", "clothes")
DARK_SKINS = {"bronze", "umber", "cocoa", "ebony"}
BRASS, HORN = "#c9a059", "#3a2f2c"
LIP_TINTS = {"plain": 0.5, "full": 0.95, "small": 0.7, "wide": 0.6}
SIGNS = ("tear", "drop", "hand", "query", "sparks", "rays", "steam")
EYE_HALF, EYE_Y = 12.5, 99.0  # half of an eye's width, and its height on the drawing
EYE_X = {"left": 76.0, "right": 124.0}
INWARDS = {"left": 1.0, "right": -1.0}
MOUTH_X, MOUTH_Y = 100.0, 133.0


class Eye(NamedTuple):
    """The lids' distances from the line between the corners, and how much higher the outer corner and crease are."""

    upper: float
    lower: float
    outer: float = 0.0
    crease: float = 5.0


class Brow(NamedTuple):
    thick: float
    arch: float
    length: float = 1.0


class Mouth(NamedTuple):
    """Half of the mouth's width, and the thickness of each lip."""

    half: float
    upper: float
    lower: float


EYES = {
    "almond": Eye(8.8, 6.6, 1.2),
    "round": Eye(10.6, 8.2),
    "upturned": Eye(8.8, 5.8, 3.4),
    "hooded": Eye(7.6, 6.0, -0.8, crease=2.6),
    "lashes": Eye(9.8, 6.8, 1.6),
}
BROWS = {
    "soft": Brow(4.4, 3.4),
    "straight": Brow(4.8, 1.0),
    "arched": Brow(3.8, 5.6),
    "full": Brow(6.6, 2.8, 1.08),
}
MOUTHS = {
    "plain": Mouth(17.0, 1.6, 3.4),
    "full": Mouth(17.5, 3.8, 5.6),
    "small": Mouth(14.0, 2.2, 4.0),
    "wide": Mouth(20.0, 1.8, 3.6),
}


class Point(NamedTuple):
    x: float
    y: float

    def __str__(self) -> str:
        return f"{self.x:.2f} {self.y:.2f}"

    def by(self, x: float, y: float) -> "Point":
        return Point(self.x + x, self.y + y)


Line = Sequence[Point]


@lru_cache(maxsize=32)  # each page with a face asks, and it takes 4 ms; 32 are a few megabytes
def build_poses(features: Features) -> Mapping[str, Mapping[str, Pose]]:
    """Return for each emotion its pose, and the parts of it that change in a blink and in speech.

    The mapping is cached and must not be modified.
    """
    poses = {}
    for emotion, felt in EXPRESSIONS.items():
        pose = build_pose(features, felt)
        blinking = replace(felt, open_left=-0.27, open_right=-0.27, cheek=0.0, lid=0.0)
        voiced = replace(felt, part=max(felt.part, 0.35) + 0.4, width=max(0.78, 0.94 * felt.width), wave=0.0)
        poses[emotion.value] = {
            "pose": pose,
            "blink": _changed(pose, build_pose(features, blinking)),
            "voice": _changed(pose, build_pose(features, voiced)),
        }
    return poses


def _changed(before: Pose, after: Pose) -> Pose:
    return {part: attributes for part, attributes in after.items() if before[part] != attributes}


def build_pose(features: Features, felt: Expression) -> Pose:
    """Return the SVG attributes of each moving part in this expression."""
    turned = f"translate(0 {felt.lean:.2f}) rotate({felt.tilt:.2f} 100 158)"  # about the base of the neck
    head = f"{turned} translate(100 158) scale({felt.near:.3f}) translate(-100 -158)"
    parts: Pose = {"head": {"transform": head}, "behind": {"transform": head}}
    for side in ("left", "right"):
        eye = _draw_eye(side, EYES[features.eyes], felt)
        parts |= {f"{side}-{name}": {"d": path} for name, path in eye.items()}
        gaze = f"translate({EYE_X[side] + felt.gaze_x:.2f} {EYE_Y + 0.6 + felt.gaze_y:.2f})"
        parts[f"{side}-iris"] = {"transform": gaze}
        parts[f"{side}-pupil"] = {"transform": f"scale({felt.pupil:.2f})"}
        parts[f"{side}-brow"] = {"d": _draw_brow(side, BROWS[features.brows], felt)}
    # Within a beard the lips are full, so that they can be seen.
    mouth = MOUTHS["full" if features.beard in {"short", "full"} else features.mouth]
    parts |= {f"mouth-{name}": {"d": path} for name, path in _draw_mouth(mouth, felt).items()}
    parts["blush"] = {"opacity": f"{felt.blush:.2f}"}
    return parts | {name: {"opacity": f"{getattr(felt, name):.2f}"} for name in SIGNS}


def _draw_eye(side: str, shape: Eye, felt: Expression) -> dict[str, str]:
    """Return the paths of the opening, the clip, the upper lid's line, its crease and its lashes."""
    inwards, openness = INWARDS[side], felt.open_left if side == "left" else felt.open_right
    height = shape.upper * openness
    inner, outer = height - 6 * max(felt.lid, 0.0), height + 6 * min(felt.lid, 0.0)
    depth = shape.lower * (0.5 + 0.5 * openness)
    depth -= felt.cheek * (depth + 0.62 * height)
    centre = Point(EYE_X[side], EYE_Y)
    start, end = centre.by(-inwards * EYE_HALF, -shape.outer), centre.by(inwards * EYE_HALF, 1.0)
    upper = [
        start,
        centre.by(-inwards * 8, -1.33 * outer - shape.outer / 2),
        centre.by(inwards * 6, -1.33 * inner),
        end,
    ]
    lower = [
        end,
        centre.by(inwards * 6, 1.33 * depth),
        centre.by(-inwards * 8, 1.33 * depth - shape.outer / 2),
        start,
    ]
    raised = [point.by(0, -thick) for point, thick in zip(upper, (1.4, 5.4, 4.2, 0.6), strict=True)]
    crease = [point.by(0, -shape.crease) for point in upper]
    crease[0] = crease[0].by(-2.5 * inwards, 1)
    lash = [start.by(-2 * inwards, -2), start.by(-7 * inwards, -5.5)]
    second_lash = [start.by(inwards, -4.5), start.by(-3.4 * inwards, -9.5)]
    opening = f"M{start}{_curve(upper)}{_curve(lower)}Z"
    return {
        "opening": opening,
        "clip": opening,
        "lid": _between([start.by(-2.6 * inwards, -0.6), *upper[1:]], raised),
        "crease": f"M{crease[0]}{_curve(crease)}",
        "lashes": f"M{lash[0]}L{lash[1]}M{second_lash[0]}L{second_lash[1]}",
    }


def _draw_brow(side: str, shape: Brow, felt: Expression) -> str:
    """Return the path of a stroke that thins towards the outside, drawn as a closed shape."""
    inwards = INWARDS[side]
    up, slant = (felt.brow_left, felt.slant_left) if side == "left" else (felt.brow_right, felt.slant_right)
    centre = Point(EYE_X[side], 76.5 - up)
    along = [
        centre.by(inwards * 11.5, 1.5 - slant),
        centre.by(inwards * 4, -shape.arch - 0.55 * slant),
        centre.by(-inwards * 7, -1.25 * shape.arch - 0.05 * slant),
        centre.by(-inwards * 15 * shape.length, 3.5 + 0.45 * slant),
    ]
    thickness = (shape.thick, shape.thick * 1.05, shape.thick * 0.8, 0.8)
    return _between(along, [point.by(0, thick) for point, thick in zip(along, thickness, strict=True)])


@dataclass(frozen=True, slots=True)
class LipLine:
    """A line across the mouth: half of its width, and how much lower its corners and its middle are."""

    half: float
    left: float
    middle: float
    right: float
    wave: float
    round: float

    def points(self, above: float = 0.0, below: float = 0.0) -> list[Point]:
        """Return the line's seven points, moved up by `above`, or down by `below`: a lip's thickness."""
        wave, out, off = 7.5 * self.wave, 0.8 + 0.2 * self.round, 0.45 + 0.1 * self.round
        left, middle, right = self.left, self.middle, self.right
        heights = (
            left,
            left + 0.55 * (middle - left) - wave,
            middle + wave,
            middle,
            middle - wave,
            right + 0.55 * (middle - right) + wave,
            right,
        )
        thickness = below - above
        shares = (0.0, 0.62, 1.0, 0.86, 1.0, 0.62, 0.0)
        places = (-1.0, -out, -off, 0.0, off, out, 1.0)
        return [
            Point(MOUTH_X + place * self.half, MOUTH_Y + height + share * thickness)
            for place, height, share in zip(places, heights, shares, strict=True)
        ]


def _draw_mouth(shape: Mouth, felt: Expression) -> dict[str, str]:
    """Return the paths of the opening between the lips and its line, teeth, tongue, lips and the shadow below them."""
    half, corner = shape.half * felt.width, -5.5 * felt.smile
    middle, depth = 4.4 * felt.smile - 4 * felt.part - 6 * felt.part * felt.round, 24 * felt.part
    corner += felt.round * (middle + 0.5 * depth - corner)
    bite = min(0.42 * depth, 5.5) * (1 - felt.round)

    def line(lower: float) -> LipLine:
        left, right = corner + 5 * felt.skew, corner - 5 * felt.skew
        return LipLine(half, left, middle + lower, right, felt.wave, felt.round)

    upper, lower = line(0), line(depth)
    opening = _between(upper.points(), lower.points())
    shadow = Point(MOUTH_X, MOUTH_Y + lower.middle + shape.lower + 5.5)
    chin = [shadow.by(-6, 0), shadow.by(-2.5, 2), shadow.by(2.5, 2), shadow.by(6, 0)]
    return {
        "opening": opening,
        "line": opening,
        "teeth": _between(upper.points(), line(bite).points()),
        "tongue": _between(line(depth - 8 * felt.part).points(), lower.points()),
        "lips": _between(upper.points(above=shape.upper), lower.points(below=shape.lower)),
        "chin": f"M{chin[0]}{_curve(chin)}",
    }


def _curve(line: Line) -> str:
    """Return the cubic Bézier commands that continue a path at the first point.

    Every third point is the end of a curve, and the two before it are its control points.
    """
    bends = [line[at : at + 3] for at in range(1, len(line), 3)]
    return "".join(f"C{first} {second} {end}" for first, second, end in bends)


def _between(line: Line, other: Line) -> str:
    """Return the closed path between two lines that begin and end side by side."""
    back = other[::-1]
    return f"M{line[0]}{_curve(line)}L{back[0]}{_curve(back)}Z"


# -- the whole drawing


def render_portrait(
    features: Features,
    felt: Expression = EXPRESSIONS[Emotion.NEUTRAL],
    hue: int = 40,
    ids: str = "p",
    is_live: bool = False,
) -> SafeString:
    """Return the portrait as SVG. If it `is_live`, it also contains the signs that do not show yet.

    `ids` sets the element ids of this portrait apart from those of others on the same page.
    """
    pose = build_pose(features, felt)
    skin, hair, cloth = (
        PALETTE[part][getattr(features, part)] for part in ("skin", "hair_colour", "cloth_colour")
    )
    is_bearded = features.beard in {"short", "full"}
    is_brass = features.glasses == "fine" or features.skin in DARK_SKINS - {"bronze"}
    signs = (name for name in SIGNS if is_live or float(pose[name]["opacity"]) > 0)
    context = {
        "features": features,
        "parts": {feature: f"face/parts/{feature}/{getattr(features, feature)}.svg" for feature in PARTS},
        "moving": _write_attributes(pose),
        "signs": [{"moving": _attributes(name, pose[name]), "part": f"face/parts/signs/{name}.svg"} for name in signs],
        "ids": ids,
        "skin": skin,
        "hair": hair,
        "cloth": cloth,
        "below": PALETTE["cloth_colour"]["terracotta" if features.cloth_colour == "oat" else "oat"],
        "iris": PALETTE["eye_colour"][features.eye_colour]["base"],
        "brow": skin["line"] if features.skin in DARK_SKINS else hair["shade"],
        "frame": BRASS if is_brass else HORN,
        "lips": 1 if is_bearded else LIP_TINTS[features.mouth],
        "chin": 0 if is_bearded else 1,
        "ground": colour_of_hue(hue),
        "halo": colour_of_hue(hue, 0.935, 0.038),
    }  # fmt: skip
    return render_to_string("face/portrait.svg", context)


def _write_attributes(pose: Pose) -> dict[str, Any]:
    """Return each moving part's attributes as text: `left-iris` under `left` and `iris`, `head` under `head`."""
    written: dict[str, Any] = {}
    for part, attributes in pose.items():
        of, _dash, name = part.partition("-")
        if name:
            written.setdefault(of, {})[name] = _attributes(part, attributes)
        else:
            written[part] = _attributes(part, attributes)
    return written


def _attributes(part: str, attributes: dict[str, str]) -> SafeString:
    return format_html_join(" ", '{}="{}"', [("data-part", part), *attributes.items()])


def colour_of_hue(hue: int, lightness: float = 0.885, chroma: float = 0.055) -> str:
    """Return a soft colour of the hue (degrees) as "#rrggbb", converted from OKLCH (Ottosson, 2020)."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    digits = "#"
    for linear in (red, green, blue):
        part = min(1.0, max(0.0, linear))
        curved = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
        digits += f"{round(255 * curved):02x}"
    return digits


def respond_with_drawing(request: HttpRequest, drawing: str) -> HttpResponse:
    """Return the drawing as a response with headers that forbid scripts, or 304 if the browser has it already."""
    etag = f'"{hashlib.sha256(drawing.encode()).hexdigest()[:32]}"'
    headers = {name: value for name, value in HEADERS.items() if name != "Accept-Ranges"} | {"ETag": etag}
    if is_known(request, etag):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(drawing, content_type="image/svg+xml", headers=headers)
