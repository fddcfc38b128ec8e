"""A portrait as SVG: head and shoulders on a soft ground, each moving part under its name."""

from companions.portrait import clothes, head
from companions.portrait.colours import CLOTHS, SKINS, ground
from companions.portrait.element import element, group, line, shape
from companions.portrait.expressions import EXPRESSIONS, Expression
from companions.portrait.features import Features
from companions.portrait.growing import Hair
from companions.portrait.looking import eyes_of, mouth_of
from companions.portrait.poses import SIGNS, Pose, pose
from companions.portrait.signs import sign
from memory.emotion import Emotion

BOX = "8 10 184 184"
SOFT = "M26 116C18 66 52 22 104 20C158 20 190 64 180 120C174 168 138 184 98 182C58 180 32 160 26 116Z"


def svg(
    features: Features,
    felt: Expression = EXPRESSIONS[Emotion.NEUTRAL],
    hue: int = 40,
    ids: str = "p",
    is_live: bool = False,
) -> str:
    """The drawing; a live one holds also what does not show yet. `ids` sets it apart from others on the same page."""
    now = pose(features, felt)
    hair = Hair(features)
    parts = (
        hair.behind(now),
        _body(features),
        _head(features, now, hair, ids),
        hair.over(),
        _signs(features, now, is_live),
    )
    whole = _ground(hue) + group(*parts, data_part="breath")
    return element("svg", whole, xmlns="http://www.w3.org/2000/svg", viewBox=BOX, focusable="false")


def _ground(hue: int) -> str:
    behind = element("rect", width=200, height=200, fill=ground(hue))
    return behind + shape(SOFT, ground(hue, 0.935, 0.038))


def _body(features: Features) -> str:
    skin, dye, worn = SKINS[features.skin], CLOTHS[features.cloth_colour], clothes.CLOTHES[features.clothes]
    below = CLOTHS["terracotta" if features.cloth_colour == "oat" else "oat"].base
    return (
        shape(head.NECK, skin.base)
        + shape(head.NECK_SHADE, skin.shade, opacity=0.8)
        + shape(worn.shape, dye.base)
        + shape(worn.second, below if features.clothes == "cardigan" else dye.light)
        + line(worn.folds, dye.shade, 2.4)
    )


def _head(features: Features, now: Pose, hair: Hair, ids: str) -> str:
    skin = SKINS[features.skin]
    inside = (
        _ears(features),
        shape(head.head(features.face), skin.base, stroke=skin.shade, stroke_width=2),
        _on_skin(features, now),
        hair.beard(ids),
        line(head.NOSES[features.nose], skin.line, 2.6, opacity=0.75),
        mouth_of(features, now),
        eyes_of(features, now, ids),
        hair.front(),
        hair.brows(now),
        _worn(features),
    )
    return group(*inside, data_part="head", **now["head"])


def _ears(features: Features) -> str:
    if features.hair == "scarf":
        return ""
    skin = SKINS[features.skin]
    return shape(head.EARS, skin.base, stroke=skin.shade, stroke_width=2) + line(
        head.EAR_LINES, skin.shade, 2
    )


def _on_skin(features: Features, now: Pose) -> str:
    skin = SKINS[features.skin]
    cheeks = [
        element("ellipse", cx=x, cy=118, rx=11, ry=7.5, fill=skin.blush, opacity=0.62) for x in (68, 132)
    ]
    drawn = group(*cheeks, data_part="blush", **now["blush"])
    if features.skin_marks == "freckles":
        dots = (element("circle", cx=x, cy=y, r=1.5, fill=skin.line) for x, y in head.FRECKLES)
        return drawn + group(*dots, opacity=0.45)
    if features.skin_marks == "mole":
        return drawn + element("circle", cx=head.MOLE[0], cy=head.MOLE[1], r=1.9, fill=skin.line)
    return drawn + (line(head.LINES, skin.shade, 1.8) if features.skin_marks == "lines" else "")


def _worn(features: Features) -> str:
    """Glasses, light ones on dark skin, and earrings."""
    drawn = ""
    if features.glasses != "none":
        glasses = clothes.GLASSES[features.glasses]
        is_gold = features.glasses == "fine" or features.skin in {"umber", "cocoa", "ebony"}
        drawn = line(glasses.frame, clothes.BRASS if is_gold else clothes.HORN, glasses.width)
    if features.earrings == "none" or features.hair == "scarf":
        return drawn
    if features.earrings == "hoops":
        return drawn + line(clothes.HOOPS, clothes.GOLD, 2.4)
    return drawn + shape(clothes.DROPS if features.earrings == "drops" else clothes.STUDS, clothes.GOLD)


def _signs(features: Features, now: Pose, is_live: bool) -> str:
    shown = (name for name in SIGNS if is_live or float(now[name]["opacity"]) > 0)
    return "".join(group(sign(name, features), data_part=name, **now[name]) for name in shown)
