"""A companion's own portrait: the features that it has, what is chosen of them, and pictures in the drawing's place."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from companions.errors import PortraitError
from companions.face.features import TABLES, Features, draw_features
from companions.locks import lock
from companions.models import Companion, Picture, Portrait
from files import keeping
from files.models import StoredFile
from files.pictures import picture
from memory.emotion import Emotion

SEEDS = 2**63
UNUSED_AFTER = timedelta(hours=1)  # what was stored a moment ago is about to be shown
ALWAYS = "always"  # the name of the picture for every emotion that has none of its own


def get_seed(companion: Companion) -> int:
    """Return the seed that was chosen, else the one that follows from the companion's id."""
    portrait = getattr(companion, "portrait", None)
    return portrait.seed if portrait else companion.pk.int % SEEDS


def get_features(companion: Companion) -> Features:
    """Return what it looks like; with the portrait selected together with the companion, without a query."""
    portrait = getattr(companion, "portrait", None)
    return draw_features(get_seed(companion)).with_choices(portrait.chosen if portrait else {})


def choose_features(companion: Companion, seed: int, chosen: Mapping[str, str]) -> Portrait:
    """Keep the seed, and what differs from what follows from it. PortraitError (`no_such_seed`, `no_such_feature`)."""
    if not 0 <= seed < SEEDS:
        raise PortraitError("no_such_seed", _("A seed goes from 0 to 9223372036854775807."))
    if any(name not in TABLES.get(feature, ()) for feature, name in chosen.items()):
        raise PortraitError("no_such_feature", _("There is no such feature of a face."))
    drawn = draw_features(seed)
    differing = {feature: name for feature, name in chosen.items() if getattr(drawn, feature) != name}
    kept = {"seed": seed, "chosen": differing}
    return Portrait.objects.update_or_create(companion=companion, defaults=kept)[0]


def load_pictures(companion: Companion) -> dict[str, Picture]:
    """Return its uploaded pictures by emotion; that for all the others under no name."""
    mine = Picture.objects.filter(companion=companion).select_related("file")
    return {picture.emotion: picture for picture in mine}


def find_picture(companion: Companion, emotion: str) -> Picture | None:
    """Return the picture that stands for it as it feels so; None where it is drawn."""
    mine = Picture.objects.filter(companion=companion, emotion__in={emotion, ""})
    return mine.select_related("file__user").order_by("-emotion").first()


def put_picture(companion: Companion, emotion: str, content: bytes, now: datetime) -> Picture:
    """Show the picture from now on for that emotion (empty: always), in place of another one.

    FilesError where it is none, too large, or has no room; PortraitError (`no_such_emotion`).
    """
    _check_emotion(emotion)
    drawn = picture(content)
    of = {"companion": companion, "width": drawn.width, "height": drawn.height}
    kind = StoredFile.Kind.PICTURE
    file = keeping.keep(companion.user, drawn.content, kind, "image/webp", now, **of)  # type: ignore[arg-type]
    with transaction.atomic():
        if not lock(companion.pk):
            raise Companion.DoesNotExist
        drop_picture(companion, emotion)
        return Picture.objects.create(companion=companion, emotion=emotion, file=file)


def drop_picture(companion: Companion, emotion: str) -> bool:
    """Return whether there was a picture for that emotion; it is gone, its row with its file."""
    _check_emotion(emotion)
    found = Picture.objects.filter(companion=companion, emotion=emotion).select_related("file").first()
    if found:
        keeping.drop(found.file)
    return found is not None


def delete_unused_pictures(now: datetime) -> int:
    """Delete pictures that never stood for a face, because their process had died before; return how many."""
    pictures = StoredFile.objects.filter(kind=StoredFile.Kind.PICTURE, picture=None)
    return pictures.filter(created_at__lt=now - UNUSED_AFTER).delete()[0]


def _check_emotion(emotion: str) -> None:
    if emotion and emotion not in Emotion.values:
        raise PortraitError("no_such_emotion", _("There is no such emotion."))
