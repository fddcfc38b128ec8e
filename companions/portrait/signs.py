"""The signs beside a face: a tear, a drop, a hand at the chin, a question, sparks, rays, a scribble.

What may come to lie before hair has a light rim.
"""

from companions.portrait.colours import CLOTHS, SKINS
from companions.portrait.element import line, shape
from companions.portrait.features import Features

INK, LIGHT, WATER, EDGE = "#5a4038", "#fffaf2", "#8cc4e8", "#5f9cc6"
EMBER, AMBER, RED = "#cf5a2c", "#f0a92e", "#c23b2a"

STAR = "M{x} {top}Q{x} {y} {right} {y}Q{x} {y} {x} {bottom}Q{x} {y} {left} {y}Q{x} {y} {x} {top}Z"


def star(x: float, y: float, size: float) -> str:
    """A star of four points."""
    sides = {"top": y - size, "bottom": y + size, "left": x - size, "right": x + size}
    return STAR.format(x=x, y=y, **sides)


TEAR = "M64 108C72 119 75 125 71 131C67 136 60 136 56 131C53 125 57 119 64 108Z"
DROP = "M154 36C163 50 168 57 165 66C161 75 149 75 144 66C141 57 146 50 154 36Z"
QUERY = "M140 42C141 24 167 24 166 42C165 53 154 53 153 64M153 79L153 79.500"
SPARKS = star(155, 44, 17) + star(174, 70, 10)
RAYS = "M34 66L20 58M48 44L37 31M68 30L63 17M166 66L180 58M152 44L163 31M132 30L137 17"
STEAM = "M138 44C142 26 164 26 165 40C166 51 149 52 150 42C151 30 176 32 175 52C174 60 168 63 164 62"
SLEEVE = "M112 200C114 190 120 182 128 178L158 184C162 190 164 196 164 200Z"
HAND = (
    "M112 150C104 146 100 152 104 157C108 162 113 164 116 168C118 178 122 184 130 187C142 190 152 186 154 176"
    "C156 166 152 158 146 153"
    "C144 142 142 132 138 124C134 119 128 122 129 129C131 137 132 143 131 149C126 147 118 148 112 150Z"
)
FINGERS = "M131 149C136 151 138 155 137 160M119 155C126 154 132 157 134 163M121 164C127 164 131 167 132 172"


def sign(name: str, features: Features) -> str:
    """The elements of that sign."""
    if name == "hand":
        return _hand(features)
    if name == "sparks":
        rim = shape(SPARKS, LIGHT, stroke=LIGHT, stroke_width=7, stroke_linejoin="round")
        return rim + shape(SPARKS, AMBER, stroke=AMBER, stroke_width=1.5, stroke_linejoin="round")
    if name in {"tear", "drop"}:
        return shape(TEAR if name == "tear" else DROP, WATER, stroke=EDGE, stroke_width=2)
    d, colour, width = {"query": (QUERY, EMBER, 8), "rays": (RAYS, INK, 6.5), "steam": (STEAM, RED, 6.5)}[
        name
    ]
    return line(d, LIGHT, width + 6) + line(d, colour, width)


def _hand(features: Features) -> str:
    skin, cloth = SKINS[features.skin], CLOTHS[features.cloth_colour]
    return (
        shape(SLEEVE, cloth.base, stroke=cloth.shade, stroke_width=2)
        + shape(HAND, skin.base, stroke=skin.line, stroke_width=1.8)
        + line(FINGERS, skin.line, 1.8)
    )
