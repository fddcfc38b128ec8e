"""What grows on a head, as elements: hair, brows, beard; and the scarf that may cover it."""

from companions.portrait import head
from companions.portrait.colours import CLOTHS, HAIRS, SKINS
from companions.portrait.element import element, group, line, shape
from companions.portrait.features import Features
from companions.portrait.hair import STYLES
from companions.portrait.poses import Pose

DARK_SKIN = {"bronze", "umber", "cocoa", "ebony"}


class Hair:
    def __init__(self, features: Features) -> None:
        self.features, self.style = features, STYLES[features.hair]
        self.dye = HAIRS[features.hair_colour]
        self.shown = CLOTHS[features.cloth_colour] if self.style.is_cloth else self.dye

    def behind(self, now: Pose) -> str:
        """What lies behind head and neck; it turns with the head."""
        drawn = shape(self.style.behind, self.shown.base if self.style.is_one else self.shown.shade)
        return group(drawn, data_part="behind", **now["behind"]) if drawn else ""

    def front(self) -> str:
        faint = 0.62 if self.features.hair == "buzz" else 1.0
        drawn = shape(self.style.front, self.shown.base, opacity=faint, fill_rule="evenodd")
        return drawn + line(self.style.strands, self.shown.shade, 2.2, opacity=0.8)

    def over(self) -> str:
        """What falls before the clothes."""
        return shape(self.style.over, self.shown.base) + line(self.style.folds, self.shown.shade, 2.2)

    def brows(self, now: Pose) -> str:
        """Darker than the hair, before which they may lie; on dark skin in the line that is seen on it."""
        is_dark = self.features.skin in DARK_SKIN
        fill = SKINS[self.features.skin].line if is_dark else self.dye.shade
        return "".join(shape(now[name]["d"], fill, data_part=name) for name in ("left-brow", "right-brow"))

    def beard(self, ids: str) -> str:
        """Stubble is kept within the face."""
        d = head.BEARDS[self.features.beard]
        if self.features.beard != "stubble":
            return shape(d, self.dye.base)
        face = element("path", d=head.head(self.features.face))
        cut = element("clipPath", face, id=f"{ids}-face")
        return cut + shape(d, self.dye.base, opacity=0.28, clip_path=f"url(#{ids}-face)")
