"""What a companion looks like: features drawn from a seed, features chosen instead, and pictures shown instead."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import accumulate
from types import MappingProxyType

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from companions.errors import PortraitError
from companions.models import Companion, Picture, Portrait
from files import contents
from files.models import StoredFile
from files.pictures import picture
from memory.emotion import Emotion

SEEDS = 2**63
ORPHANED_AFTER = timedelta(hours=1)  # a picture stored a moment ago may be about to get its row
ALWAYS = "always"  # the name of the picture for every emotion that has no picture of its own
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
    """One name from each of TABLES. Raise ValueError for any other name."""

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
        """Return the features with these choices; a choice that is no longer in TABLES is ignored."""
        known = {
            feature: name for feature, name in chosen.items() if feature in TABLES and name in TABLES[feature]
        }
        return replace(self, **known)


def draw_features(seed: int) -> Features:
    """Return the features that follow from the seed. Extending a table changes the results for its own feature only."""
    drawn = {}
    for feature, table in TABLES.items():
        number = int.from_bytes(sha256(f"{seed} {feature}".encode()).digest()[:8])
        limits = list(accumulate(table.values()))
        drawn[feature] = list(table)[bisect_right(limits, number % limits[-1])]
    return Features(**drawn)


# -- a companion's own


def get_seed(companion: Companion) -> int:
    """Return the seed that was chosen, or else the one that follows from the companion's id."""
    portrait = getattr(companion, "portrait", None)
    return portrait.seed if portrait else companion.pk.int % SEEDS


def get_features(companion: Companion) -> Features:
    """Return the companion's features. Needs no query if the companion was loaded with `select_related("portrait")`."""
    portrait = getattr(companion, "portrait", None)
    return draw_features(get_seed(companion)).with_choices(portrait.chosen if portrait else {})


def choose_features(companion: Companion, seed: int, chosen: Mapping[str, str]) -> Portrait:
    """Save the seed, and the chosen features that differ from those that follow from it.

    Raise PortraitError (`no_such_seed`, `no_such_feature`).
    """
    if not 0 <= seed < SEEDS:
        raise PortraitError("no_such_seed", _("A seed is a number from 0 to 9223372036854775807."))
    if any(name not in TABLES.get(feature, ()) for feature, name in chosen.items()):
        raise PortraitError("no_such_feature", _("A face has no such feature."))
    drawn = draw_features(seed)
    differing = {feature: name for feature, name in chosen.items() if getattr(drawn, feature) != name}
    kept = {"seed": seed, "chosen": differing}
    return Portrait.objects.update_or_create(companion=companion, defaults=kept)[0]


def load_pictures(companion: Companion) -> dict[str, Picture]:
    """Return the companion's uploaded pictures by emotion; the one for all other emotions has the key ""."""
    mine = Picture.objects.filter(companion=companion).select_related("file")
    return {picture.emotion: picture for picture in mine}


def find_picture(companion: Companion, emotion: str) -> Picture | None:
    """Return the picture that shows the companion in this emotion, or None if its face is drawn."""
    mine = Picture.objects.filter(companion=companion, emotion__in={emotion, ""})
    return mine.select_related("file__user").order_by("-emotion").first()


def put_picture(companion: Companion, emotion: str, content: bytes, now: datetime) -> Picture:
    """Save the picture for this emotion ("" for all that have none of their own), replacing the one before.

    Raise FilesError if it is no picture, too large, or over the quota; PortraitError (`no_such_emotion`).
    """
    _check_emotion(emotion)
    drawn = picture(content)
    kind = StoredFile.Kind.PICTURE
    file = contents.store_picture(companion.user, drawn, kind, now, companion=companion)
    with transaction.atomic():
        if not companion.lock():
            raise Companion.DoesNotExist
        drop_picture(companion, emotion)
        return Picture.objects.create(companion=companion, emotion=emotion, file=file)


def drop_picture(companion: Companion, emotion: str) -> bool:
    """Delete the picture for this emotion with its file; return whether there was one."""
    _check_emotion(emotion)
    found = Picture.objects.filter(companion=companion, emotion=emotion).select_related("file").first()
    if found:
        found.file.delete()
    return found is not None


def delete_unused_pictures(now: datetime) -> int:
    """Delete stored pictures that neither a companion nor the gallery got, as their process died; return how many."""
    of_nobody = Q(kind=StoredFile.Kind.PICTURE, picture=None)
    of_no_version = Q(kind=StoredFile.Kind.GALLERY, gallery_version=None)
    orphans = StoredFile.objects.filter(of_nobody | of_no_version, created_at__lt=now - ORPHANED_AFTER)
    return orphans.delete()[0]


def _check_emotion(emotion: str) -> None:
    if emotion and emotion not in Emotion.values:
        raise PortraitError("no_such_emotion", _("There is no such emotion."))
