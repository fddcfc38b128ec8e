"""What a portrait is made of: for each feature the choices that there are, each as likely as its number says."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from types import MappingProxyType

SKIN = dict.fromkeys(
    ("porcelain", "fair", "peach", "honey", "olive", "caramel", "bronze", "umber", "cocoa", "ebony"), 1
)
TABLES: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "skin": SKIN,
        "face": {"oval": 4, "round": 3, "heart": 3, "square": 2, "long": 2},
        "hair": {
            "crop": 4, "parted": 4, "swept": 4, "fringe": 3, "bob": 4, "long": 4, "waves": 4, "bun": 3, "tail": 3,
            "curls": 4, "cloud": 3, "coils": 3, "locs": 3, "pixie": 4, "braid": 3, "buzz": 2, "bald": 1, "scarf": 1,
        },
        "hair_colour": {
            "ink": 6, "coffee": 6, "chestnut": 5, "auburn": 3, "copper": 2, "honey": 3, "straw": 2, "ash": 2,
            "silver": 2, "plum": 1, "slate": 1, "rosewood": 1,
        },
        "brows": {"soft": 4, "straight": 3, "arched": 3, "full": 3},
        "eyes": {"almond": 4, "round": 4, "upturned": 3, "hooded": 2, "lashes": 3},
        "eye_colour": {"brown": 5, "dark": 5, "hazel": 3, "green": 2, "grey": 2, "blue": 2},
        "nose": {"button": 3, "straight": 3, "broad": 3, "long": 2, "soft": 3},
        "mouth": {"plain": 4, "full": 3, "small": 2, "wide": 2},
        "beard": {"none": 12, "stubble": 2, "moustache": 1, "short": 2, "full": 1},
        "skin_marks": {"none": 8, "freckles": 3, "mole": 2, "lines": 2},
        "glasses": {"none": 8, "round": 2, "square": 2, "fine": 1},
        "earrings": {"none": 6, "studs": 2, "hoops": 2, "drops": 1},
        "clothes": {"crew": 3, "vee": 2, "shirt": 3, "turtleneck": 2, "hoodie": 2, "cardigan": 2},
        "cloth_colour": {
            "oat": 2, "terracotta": 2, "mustard": 2, "sage": 2, "forest": 2, "sky": 2, "navy": 2, "plum": 2, "rose": 2,
            "charcoal": 1,
        },
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Features:
    """One name from each table; ValueError for another."""

    skin: str
    face: str
    hair: str
    hair_colour: str
    brows: str
    eyes: str
    eye_colour: str
    nose: str
    mouth: str
    beard: str
    skin_marks: str
    glasses: str
    earrings: str
    clothes: str
    cloth_colour: str

    def __post_init__(self) -> None:
        for feature, name in asdict(self).items():
            if name not in TABLES[feature]:
                raise ValueError(f"{feature}: there is no {name!r}.")

    def with_choices(self, chosen: Mapping[str, str]) -> "Features":
        """Return the features with these choices; a choice that there is no more is left out."""
        known = {
            feature: name for feature, name in chosen.items() if feature in TABLES and name in TABLES[feature]
        }
        return replace(self, **known)


def draw_features(seed: int) -> Features:
    """Return the features that follow from a seed, the same for ever; a table that grows moves its own feature alone."""
    return Features(**{feature: _draw(seed, feature) for feature in TABLES})


def _draw(seed: int, feature: str) -> str:
    table = TABLES[feature]
    left = int.from_bytes(sha256(f"{seed} {feature}".encode()).digest()[:8]) % sum(table.values())
    for name, weight in table.items():
        left -= weight
        if left < 0:
            return name
    raise AssertionError("The weights of a table sum up to more than it has.")
