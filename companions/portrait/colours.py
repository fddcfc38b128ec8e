"""The colours of the drawing: those of a skin, of hair, of eyes, of cloth, and the ground behind a companion."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skin:
    """A tone with its shade, its blush, its lips, and the line that is seen on it."""

    base: str
    shade: str
    blush: str
    lips: str
    line: str


SKINS = {
    "porcelain": Skin("#fce6d8", "#f0c5ae", "#f4907f", "#c9665f", "#6b3f33"),
    "fair": Skin("#f8d6bd", "#e6b091", "#ee8570", "#bf5d54", "#633a2d"),
    "peach": Skin("#f0c3a0", "#d99e77", "#e67a60", "#b4544a", "#5a3426"),
    "honey": Skin("#e3ad7d", "#c68a59", "#d96b4c", "#a34a3d", "#502d1f"),
    "olive": Skin("#cf9a68", "#ae7847", "#cb5f42", "#94443a", "#46281a"),
    "caramel": Skin("#b97f50", "#965f36", "#bd5138", "#803b31", "#3b2013"),
    "bronze": Skin("#9d653d", "#7b4a29", "#b04a36", "#6d2f28", "#311a10"),
    "umber": Skin("#815033", "#623920", "#a34436", "#64312b", "#26130c"),
    "cocoa": Skin("#653c28", "#4a2918", "#963c33", "#54261f", "#1d0e09"),
    "ebony": Skin("#4f3023", "#372015", "#8a3630", "#43201b", "#170a07"),
}


@dataclass(frozen=True, slots=True)
class Dye:
    """A colour with its darker and its lighter one."""

    base: str
    shade: str
    light: str


HAIRS = {
    "ink": Dye("#2b2527", "#171315", "#4d4548"),
    "coffee": Dye("#46302a", "#2d1d19", "#6d4e44"),
    "chestnut": Dye("#6b4130", "#4a2a1e", "#94614a"),
    "auburn": Dye("#8b3f2b", "#65291b", "#b5634a"),
    "copper": Dye("#c0672f", "#94481b", "#e08d55"),
    "honey": Dye("#c9974f", "#a07231", "#e5bb7c"),
    "straw": Dye("#e4c37e", "#bf994f", "#f5e0b0"),
    "ash": Dye("#8d8178", "#695f58", "#b3a89f"),
    "silver": Dye("#d3d0cd", "#a9a5a3", "#f0eeec"),
    "plum": Dye("#6a3f5e", "#4a2841", "#935f85"),
    "slate": Dye("#42566b", "#2b3b4c", "#66809b"),
    "rosewood": Dye("#a9596a", "#80394a", "#cf8593"),
}
IRISES = {
    "brown": "#5b3620",
    "dark": "#2f1d15",
    "hazel": "#7f5a25",
    "green": "#4f7043",
    "grey": "#5d6b74",
    "blue": "#3f6c96",
}
CLOTHS = {
    "oat": Dye("#e9dcc6", "#cbb898", "#f8f0e2"),
    "terracotta": Dye("#c5674a", "#9c4a31", "#de8a70"),
    "mustard": Dye("#d9a23f", "#b07c24", "#efc473"),
    "sage": Dye("#8ba385", "#697f64", "#aec3a9"),
    "forest": Dye("#3f6553", "#2a483a", "#608a75"),
    "sky": Dye("#7ea6c4", "#5a82a1", "#a8c7de"),
    "navy": Dye("#34476b", "#22304c", "#546991"),
    "plum": Dye("#7a4a6a", "#59324c", "#9d6f8e"),
    "rose": Dye("#d98a8f", "#b5666c", "#edb1b4"),
    "charcoal": Dye("#4a4648", "#302d2f", "#6b6669"),
}


def ground(hue: int, lightness: float = 0.885, chroma: float = 0.055) -> str:
    """A soft colour of that hue, as six hexadecimal digits after a #, from OKLCH (Ottosson, 2020)."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    return "#" + "".join(f"{_byte(part):02x}" for part in (red, green, blue))


def _byte(linear: float) -> int:
    part = min(1.0, max(0.0, linear))
    curved = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
    return round(255 * curved)
