"""A companion's own face: the features that it has, what is chosen of them, and pictures in the drawing's place."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from companions.errors import PortraitError
from companions.locking import lock
from companions.models import Companion, Picture, Portrait
from companions.portrait.features import TABLES, Features, of_seed
from files import keeping
from files.models import StoredFile
from files.pictures import picture
from memory.emotion import Emotion

SEEDS = 2**63
LONE_AFTER = timedelta(hours=1)  # what was stored a moment ago is about to be shown
ALWAYS = "always"  # the name of the picture for every emotion that has none of its own


def seed_of(companion: Companion) -> int:
    """The seed that was chosen, else the one that follows from its id."""
    portrait = getattr(companion, "portrait", None)
    return portrait.seed if portrait else companion.pk.int % SEEDS


def features_of(companion: Companion) -> Features:
    """What it looks like; with the portrait selected together with the companion, without a query."""
    portrait = getattr(companion, "portrait", None)
    return of_seed(seed_of(companion)).but(portrait.chosen if portrait else {})


def choose(companion: Companion, seed: int, chosen: Mapping[str, str]) -> Portrait:
    """Keep the seed, and what differs from what follows from it. PortraitError (`no_such_seed`, `no_such_feature`)."""
    if not 0 <= seed < SEEDS:
        raise PortraitError("no_such_seed", _("A seed goes from 0 to 9223372036854775807."))
    for feature, name in chosen.items():
        if feature not in TABLES or name not in TABLES[feature]:
            raise PortraitError("no_such_feature", _("There is no such feature of a face."))
    drawn = of_seed(seed)
    differing = {feature: name for feature, name in chosen.items() if getattr(drawn, feature) != name}
    kept = {"seed": seed, "chosen": differing}
    return Portrait.objects.update_or_create(companion=companion, defaults=kept)[0]


def pictures_of(companion: Companion) -> dict[str, Picture]:
    """Its uploaded pictures by emotion; that for all the others under no name."""
    mine = Picture.objects.filter(companion=companion).select_related("file")
    return {one.emotion: one for one in mine}


def picture_for(companion: Companion, emotion: str) -> Picture | None:
    """The picture that stands for it as it feels so; None where it is drawn."""
    mine = Picture.objects.filter(companion=companion, emotion__in={emotion, ""})
    return mine.select_related("file__user").order_by("-emotion").first()


def put_picture(companion: Companion, emotion: str, content: bytes, now: datetime) -> Picture:
    """The picture as it is shown from now on for that emotion (empty: always), in place of another one.

    FilesError where it is none, too large, or has no room; PortraitError (`no_such_emotion`).
    """
    _look_at(emotion)
    drawn = picture(content)
    of = {"companion": companion, "width": drawn.width, "height": drawn.height}
    kind = StoredFile.Kind.PICTURE
    file = keeping.keep(companion.user, drawn.content, kind, "image/webp", now, **of)  # type: ignore[arg-type]
    with transaction.atomic():
        if not lock(companion.pk):
            raise Companion.DoesNotExist
        _drop(companion, emotion)
        return Picture.objects.create(companion=companion, emotion=emotion, file=file)


def take_back(companion: Companion, emotion: str) -> bool:
    """Whether there was a picture for that emotion; it is gone, and its content with it."""
    _look_at(emotion)
    return _drop(companion, emotion)


def _drop(companion: Companion, emotion: str) -> bool:
    """The row goes with its file."""
    found = Picture.objects.filter(companion=companion, emotion=emotion).select_related("file").first()
    if found:
        keeping.drop(found.file)
    return found is not None


def sweep(now: datetime) -> int:
    """How many pictures are gone now that never stood for a face, because their process had died before."""
    lone = StoredFile.objects.filter(
        kind=StoredFile.Kind.PICTURE, picture=None, created_at__lt=now - LONE_AFTER
    )
    return lone.delete()[0]


def _look_at(emotion: str) -> None:
    if emotion and emotion not in Emotion.values:
        raise PortraitError("no_such_emotion", _("There is no such emotion."))
