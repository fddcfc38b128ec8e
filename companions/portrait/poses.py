"""A portrait's moving parts in every expression, as attributes: numbers in the same places, so that a browser can go
from one to the other by going from number to number.
"""

from dataclasses import replace

from companions.portrait.expressions import EXPRESSIONS, Expression
from companions.portrait.eyes import BROWS, EYES, brow, eye, gaze
from companions.portrait.features import Features
from companions.portrait.mouth import mouth, shape_of

Pose = dict[str, dict[str, str]]
SIGNS = ("tear", "drop", "hand", "query", "sparks", "rays", "steam")


def pose(features: Features, felt: Expression) -> Pose:
    """For each moving part the attributes that it has in that expression."""
    parts: Pose = {"head": {"transform": _head(felt)}, "behind": {"transform": _head(felt)}}
    for side in ("left", "right"):
        of_eye = eye(side, EYES[features.eyes], felt)
        for name, d in of_eye.items():
            parts[f"{side}-{name}"] = {"d": d}
        parts[f"{side}-clip"] = {"d": of_eye["opening"]}
        parts[f"{side}-iris"] = {"transform": gaze(side, felt)}
        parts[f"{side}-pupil"] = {"transform": f"scale({felt.pupil:.2f})"}
        parts[f"{side}-brow"] = {"d": brow(side, BROWS[features.brows], felt)}
    for name, d in mouth(shape_of(features), felt).items():
        parts[f"mouth-{name}"] = {"d": d}
    parts["mouth-line"] = parts["mouth-opening"]
    parts["blush"] = {"opacity": f"{felt.blush:.2f}"}
    return parts | {name: {"opacity": f"{getattr(felt, name):.2f}"} for name in SIGNS}


def _head(felt: Expression) -> str:
    """Turned and grown about the base of the neck."""
    turned = f"translate(0 {felt.lean:.2f}) rotate({felt.tilt:.2f} 100 158)"
    return f"{turned} translate(100 158) scale({felt.near:.3f}) translate(-100 -158)"


def closed(felt: Expression) -> Expression:
    """The same with the eyes shut, as in a blink."""
    return replace(felt, open_left=-0.27, open_right=-0.27, cheek=0.0, lid=0.0)


def voiced(felt: Expression) -> Expression:
    """The same with the mouth as wide as the loudest sound has it."""
    return replace(felt, part=max(felt.part, 0.35) + 0.4, width=max(0.78, 0.94 * felt.width), wave=0.0)


def poses(features: Features) -> dict[str, dict[str, Pose]]:
    """For each emotion its pose, and what of it changes in a blink and in speech."""
    return {
        emotion.value: {
            "pose": (whole := pose(features, felt)),
            "blink": _changed(whole, pose(features, closed(felt))),
            "voice": _changed(whole, pose(features, voiced(felt))),
        }
        for emotion, felt in EXPRESSIONS.items()
    }


def _changed(before: Pose, after: Pose) -> Pose:
    return {part: attributes for part, attributes in after.items() if before[part] != attributes}
