"""Eyes and mouth as elements."""

from companions.portrait.colours import IRISES, SKINS
from companions.portrait.element import element, group, line
from companions.portrait.eyes import EYES
from companions.portrait.features import Features
from companions.portrait.mouth import MOUTHS
from companions.portrait.poses import Pose


def eyes_of(features: Features, now: Pose, ids: str) -> str:
    """Both eyes; what lies outside of their openings is cut off."""
    return "".join(_eye(side, features, now, f"{ids}-{side}") for side in ("left", "right"))


def _eye(side: str, features: Features, now: Pose, clip: str) -> str:
    skin = SKINS[features.skin]

    def moving(name: str) -> dict[str, str]:
        return {"data_part": f"{side}-{name}", **now[f"{side}-{name}"]}

    cut = element("clipPath", element("path", **moving("clip")), id=clip)
    ball = (
        element("circle", r=9, fill=IRISES[features.eye_colour])
        + element("circle", r=4.8, fill="#17100d", **moving("pupil"))
        + element("circle", cx=3, cy=-3.3, r=2.6, fill="#fff")
        + element("circle", cx=-2.6, cy=3.2, r=1.2, fill="#fff", opacity=0.6)
    )
    parts = [
        cut,
        element("path", fill="#fffaf4", **moving("opening")),
        group(group(ball, **moving("iris")), clip_path=f"url(#{clip})"),
        line(now[f"{side}-crease"]["d"], skin.shade, 2, data_part=f"{side}-crease"),
        element("path", fill=skin.line, **moving("lid")),
    ]
    if EYES[features.eyes].lashes:
        parts.append(line(now[f"{side}-lashes"]["d"], skin.line, 2.6, data_part=f"{side}-lashes"))
    return group(*parts)


def mouth_of(features: Features, now: Pose) -> str:
    """Lips, what is between them, and the shadow below; on a beard the lips alone."""
    skin = SKINS[features.skin]

    def moving(name: str) -> dict[str, str]:
        return {"data_part": f"mouth-{name}", **now[f"mouth-{name}"]}

    edge: dict[str, str | float] = {
        "stroke": skin.line,
        "stroke_width": 3.2,
        "stroke_linecap": "round",
        "stroke_linejoin": "round",
    }
    is_bearded = features.beard in {"short", "full"}
    tint, chin = (1.0, 0.0) if is_bearded else (MOUTHS[features.mouth].tint, 1.0)
    return (
        element("path", fill=skin.lips, opacity=tint, **moving("lips"))
        + element("path", fill="#5e2324", **moving("opening"))
        + element("path", fill="#fffaf4", **moving("teeth"))
        + element("path", fill="#c9605c", **moving("tongue"))
        + element("path", fill="none", **edge, **moving("line"))
        + element(
            "path",
            fill="none",
            stroke=skin.shade,
            stroke_width=2.2,
            stroke_linecap="round",
            opacity=chin,
            **moving("chin"),
        )
    )
