"""Submit a character for approval, withdraw it, delete it. An approved version stays visible while a new one waits."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from accounts.models import User
from companions.errors import GalleryError, LimitError
from companions.face.portraits import find_picture, get_seed
from companions.gallery.publication import Publication, holds_own_address, require_right_to_give_on
from companions.models import Companion, GalleryCharacter, GalleryVersion
from companions.models.gallery import AGES
from files import contents
from files.models import StoredFile
from memory.emotion import Emotion
from text.strings import NOT_SEEN, folded, reads_like_kith

State = GalleryVersion.State
NOT_FOUND, COMPANION_DELETED = 404, "companion_deleted"
MAY_DECIDE = "companions.decide_galleryversion"  # users with this permission may publish in Kith's name
# Marks that turn the direction of all text after them: "htiK" can be read as "Kith", and the rating beside it backwards.
TURNED = re.compile("[\u202a-\u202e\u2066-\u2069]")
VERSIONS_KEPT = 20  # of one character, besides the approved one


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the publisher says of a character: the name they publish under, its description, licence and rating."""

    published_as: str
    line: str
    summary: str
    tags: Sequence[str]
    language: str
    licence: str
    rating: str


def copy_picture(companion: Companion, now: datetime) -> StoredFile | None:
    """Return a copy of the companion's picture for the gallery, or None if its face is drawn. Raise FilesError."""
    picture = find_picture(companion, Emotion.NEUTRAL)
    if picture is None:
        return None
    return contents.copy_picture(companion.user, picture.file, StoredFile.Kind.GALLERY, now)


def check_terms(companion: Companion, terms: Terms) -> None:
    """Raise GalleryError, with the field, unless the person may publish the companion under these terms."""
    user = companion.user
    if "@" in folded(terms.published_as):
        raise GalleryError(
            "published_as", _("Choose a name, not an address: everybody will see it."), "published_as"
        )
    if not NOT_SEEN.sub("", terms.published_as).strip() or TURNED.search(terms.published_as):
        raise GalleryError(
            "published_as", _("Choose a name that can be read: everybody will see it."), "published_as"
        )
    if reads_like_kith(terms.published_as) and not user.has_perm(MAY_DECIDE):
        detail = _("This reads as if Kith itself had published it. Choose a name without “Kith”.")
        raise GalleryError("published_as", detail, "published_as")
    if not user.is_at_least(AGES[GalleryVersion.Rating(terms.rating)]):
        raise GalleryError(
            "rating",
            _("You cannot publish something that you would not be allowed to see in the gallery."),
            "rating",
        )
    if holds_own_address(user, "\n".join((terms.line, terms.summary, *terms.tags))):
        raise GalleryError("own_address", _("Your e-mail address appears in it. Remove it first."))
    require_right_to_give_on(companion, terms.licence)


@transaction.atomic
def submit(
    companion: Companion,
    publication: Publication,
    terms: Terms,
    picture: StoredFile | None,
    now: datetime,
) -> GalleryVersion:
    """Create and return a version that waits for an operator. One that waited before is withdrawn.

    Raise GalleryError or LimitError.
    """
    check_terms(companion, terms)
    user = User.objects.select_for_update(no_key=True).get(pk=companion.user_id)
    if not companion.lock():
        detail = _("This companion was deleted a moment ago. Nothing was sent.")
        raise GalleryError(COMPANION_DELETED, detail, status=NOT_FOUND)
    character = GalleryCharacter.objects.owned_by(user).filter(companion=companion).first()
    if character is None:
        if GalleryCharacter.objects.owned_by(user).count() >= settings.GALLERY_CHARACTERS_EACH:
            detail = _(
                "You have already published %(count)s characters, which is the most you can publish. Delete one first."
            )
            raise LimitError("too_many_published", detail % {"count": settings.GALLERY_CHARACTERS_EACH})
        character = GalleryCharacter.objects.create(user=user, companion=companion, created_at=now)
    lock_character(character)
    character.versions.filter(state=State.WAITING).update(state=State.WITHDRAWN, decided_at=now)
    _drop_old_versions(character)
    number = (character.versions.aggregate(last=Max("number"))["last"] or 0) + 1
    portrait = getattr(companion, "portrait", None)
    return GalleryVersion.objects.create(
        character=character,
        number=number,
        name=companion.name,
        **asdict(terms),
        content=_sign(publication, character, number, terms),
        picture=picture,
        tint=companion.tint,
        seed=get_seed(companion),
        chosen=portrait.chosen if portrait else {},
        submitted_at=now,
    )


def _sign(
    publication: Publication, character: GalleryCharacter, number: int, terms: Terms
) -> dict[str, object]:
    """Return the card with tags, creator, and its origin in the gallery, which companions made of it keep."""
    data = publication.content["data"]
    origin = {
        "character": str(character.pk),
        "version": number,
        "licence": terms.licence,
        "published_as": terms.published_as,
    }
    signed = {
        **data,
        "tags": list(terms.tags),
        "creator": data["creator"] or terms.published_as,
        "extensions": {**data["extensions"], "kith": {"gallery": origin}},
    }
    return {**publication.content, "data": signed}


@transaction.atomic
def withdraw(character: GalleryCharacter, now: datetime) -> None:
    """Take the character out of the gallery, a waiting version too; companions made of it stay."""
    lock_character(character)
    seen = character.versions.filter(state__in=(State.WAITING, State.APPROVED))
    seen.update(state=State.WITHDRAWN, decided_at=now, decided_by=None, reason="")


@transaction.atomic
def delete_character(character: GalleryCharacter) -> None:
    """Delete the character with all versions and pictures; companions made of it and copies for reports stay."""
    lock_character(character)
    StoredFile.objects.filter(gallery_version__character=character).delete()
    character.delete()


def lock_character(character: GalleryCharacter) -> None:
    """Lock the character's row until the transaction ends. Raise GalleryError if it was deleted."""
    if not GalleryCharacter.objects.select_for_update(no_key=True).filter(pk=character.pk).exists():
        detail = _("This character was deleted a moment ago.")
        raise GalleryError("character_deleted", detail, status=NOT_FOUND)


def _drop_old_versions(character: GalleryCharacter) -> None:
    """Delete the oldest versions, so that with the next one at most VERSIONS_KEPT remain beside the approved one."""
    old: list[UUID] = list(
        character.versions.exclude(state=State.APPROVED)
        .order_by("-number")
        .values_list("pk", flat=True)[VERSIONS_KEPT - 1 :]
    )
    StoredFile.objects.filter(gallery_version__in=old).delete()
    GalleryVersion.objects.filter(pk__in=old).delete()
