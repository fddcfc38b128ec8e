"""A companion's face on a page: live, or as an image."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from companions.life.mood import CALM, Feeling
from companions.models import Companion, Reply
from companions.portrait import TABLES, Features, expression, of_seed, poses, svg
from companions.portrait.colours import CLOTHS, HAIRS, IRISES, SKINS
from companions.portrait.owned import features_of, pictures_of
from memory.emotion import Emotion

register = template.Library()
COLOURS: dict[str, dict[str, str]] = {
    "skin": {name: skin.base for name, skin in SKINS.items()},
    "hair_colour": {name: dye.base for name, dye in HAIRS.items()},
    "eye_colour": IRISES,
    "cloth_colour": {name: dye.base for name, dye in CLOTHS.items()},
}


@register.inclusion_tag("parts/live_face.html")
def live_face(
    companion: Companion,
    size: str = "",
    feeling: Feeling = CALM,
    features: Features | None = None,
) -> dict[str, Any]:
    """A face that lives; the page needs static/js/face/face.js and static/css/face.css. One query: its pictures.

    With `features` it is drawn so, whatever is kept and uploaded.
    """
    shown = features or features_of(companion)
    pictures = {} if features else pictures_of(companion)
    felt = expression(feeling.emotion, feeling.intensity)
    return {
        "size": size,
        "feeling": feeling,
        # Drawn by Kith from its own tables: shapes and numbers alone.
        "drawing": mark_safe(svg(shown, felt, companion.tint, ids=f"live-{size}", is_live=True)),  # noqa: S308
        "poses": poses(shown),
        "pictures": {emotion or "always": _url(one.file_id) for emotion, one in pictures.items()},
    }


def _url(file_id: object) -> str:
    return reverse("file", args=[file_id])


@register.simple_tag
def drawn_face(seed: int, tint: int) -> SafeString:
    """The face of somebody who is not there yet, such as a starting character."""
    return mark_safe(svg(of_seed(seed), hue=tint, ids=f"face-{seed}"))  # noqa: S308


@register.filter
def felt_in(reply: Reply | None) -> str:
    """The emotion with which an answer ended; none where it showed none."""
    last = reply.emotions[-1]["emotion"] if reply and reply.emotions else ""
    return last if last in Emotion.values and last != Emotion.NEUTRAL else ""


@register.filter
def swatch(name: str, feature: str) -> str:
    """The colour that a choice stands for; none for what is no colour."""
    return COLOURS.get(feature, {}).get(name, "")


@register.filter
def is_of_face(name: str) -> bool:
    """Whether a field is one of the features."""
    return name in TABLES
