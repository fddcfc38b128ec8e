"""A companion's face on a page: live, or as an image."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from companions.face.drawing import PALETTE, build_poses, render_portrait
from companions.face.expressions import express
from companions.face.portraits import ALWAYS, TABLES, Features, draw_features, get_features, load_pictures
from companions.gallery.catalogue import GalleryEntry
from companions.life.inner_state import CALM, Feeling
from companions.models import Companion, Reply
from memory.emotion import Emotion

register = template.Library()


@register.inclusion_tag("parts/live_face.html")
def live_face(
    companion: Companion,
    size: str = "",
    feeling: Feeling = CALM,
    features: Features | None = None,
) -> dict[str, Any]:
    """Return the context of an animated face; the page needs static/js/face/face.js and static/css/face.css.

    With `features` the face is drawn from these, ignoring the companion's portrait and pictures. One query: the
    pictures.
    """
    shown = features or get_features(companion)
    pictures = {} if features else load_pictures(companion)
    felt = express(feeling.emotion, feeling.intensity)
    return {
        "size": size,
        "feeling": feeling,
        "drawing": render_portrait(shown, felt, companion.tint, ids=f"live-{size}", is_live=True),
        "poses": build_poses(shown),
        "pictures": {
            emotion or ALWAYS: reverse("file", args=[picture.file_id])
            for emotion, picture in pictures.items()
        },
    }


@register.simple_tag
def drawn_face(seed: int, tint: int) -> SafeString:
    """Return the drawn face of somebody without a companion yet, e.g. a starting character."""
    return render_portrait(draw_features(seed), hue=tint, ids=f"face-{seed}")


@register.simple_tag
def published_face(entry: GalleryEntry) -> SafeString:
    """Return the drawn face of a character of the gallery."""
    return render_portrait(entry.features, hue=entry.tint, ids=f"face-{entry.id}")


@register.filter
def felt_in(reply: Reply | None) -> str:
    """Return the emotion with which an answer ended; "" if there was none, or a neutral one."""
    last = reply.emotions[-1]["emotion"] if reply and reply.emotions else ""
    return last if last in Emotion.values and last != Emotion.NEUTRAL else ""


@register.filter
def swatch(name: str, feature: str) -> str:
    """Return the colour that the choice `name` of a feature stands for; "" if the feature is no colour."""
    return PALETTE.get(feature, {}).get(name, {}).get("base", "")


@register.filter
def is_of_face(name: str) -> bool:
    """Return whether the form field `name` is a feature of the face."""
    return name in TABLES
