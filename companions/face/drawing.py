"""A portrait as SVG: templates/face/portrait.svg, filled with the parts, the colours and the pose of one face."""

import hashlib
import math
import tomllib
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from companions.face.expressions import EXPRESSIONS, Expression
from companions.face.features import Features
from companions.face.poses import SIGNS, Pose, build_pose
from files.serving import HEADERS
from memory.emotion import Emotion

PALETTE: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("palette.toml").read_text()
)
PARTS = ("face", "hair", "nose", "beard", "skin_marks", "glasses", "earrings", "clothes")
DARK_SKINS = {"bronze", "umber", "cocoa", "ebony"}
BRASS, HORN = "#c9a059", "#3a2f2c"
LIP_TINTS = {"plain": 0.5, "full": 0.95, "small": 0.7, "wide": 0.6}


def render_portrait(
    features: Features,
    felt: Expression = EXPRESSIONS[Emotion.NEUTRAL],
    hue: int = 40,
    ids: str = "p",
    is_live: bool = False,
) -> SafeString:
    """Return the drawing, shapes and numbers alone; a live one holds also the signs that do not show yet.

    `ids` sets it apart from others on the same page.
    """
    pose = build_pose(features, felt)
    skin, hair, cloth = (
        PALETTE["skin"][features.skin],
        PALETTE["hair_colour"][features.hair_colour],
        PALETTE["cloth_colour"][features.cloth_colour],
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
    """Return a soft colour of that hue, as six hexadecimal digits after a #, from OKLCH (Ottosson, 2020)."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    return "#" + "".join(f"{_to_byte(part):02x}" for part in (red, green, blue))


def _to_byte(linear: float) -> int:
    part = min(1.0, max(0.0, linear))
    curved = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
    return round(255 * curved)


def respond_with_drawing(request: HttpRequest, drawing: str) -> HttpResponse:
    """Return 200, or 304 to whoever has it; shown on a page or opened by itself it can do nothing."""
    etag = f'"{hashlib.sha256(drawing.encode()).hexdigest()[:32]}"'
    headers = {name: value for name, value in HEADERS.items() if name != "Accept-Ranges"} | {"ETag": etag}
    if etag in request.headers.get("If-None-Match", ""):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(drawing, content_type="image/svg+xml", headers=headers)
