"""A character sent in: it waits for an operator while what was approved before stays; withdrawn, deleted for good."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
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
from companions.models.companion import lock
from companions.models.gallery import AGES
from files import contents
from files.models import StoredFile
from memory.emotion import Emotion
from text.strings import folded, reads_like_kith

State = GalleryVersion.State
NOT_FOUND, COMPANION_DELETED = 404, "companion_deleted"
UNUSED_AFTER = timedelta(hours=1)
MAY_DECIDE = "companions.decide_galleryversion"  # whoever has this right speaks for the house
VERSIONS_KEPT = 20  # of one character, beside the one that is approved


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What its publisher says of a character: what they want to be called, and under which terms they give it."""

    published_as: str
    line: str
    summary: str
    tags: Sequence[str]
    language: str
    licence: str
    rating: str


def copy_picture(companion: Companion, now: datetime) -> StoredFile | None:
    """Return a copy of the picture of its neutral face, for the gallery; None where it is drawn. FilesError."""
    picture = find_picture(companion, Emotion.NEUTRAL)
    if picture is None:
        return None
    return contents.copy_picture(companion.user, picture.file, StoredFile.Kind.GALLERY, now)


def check_terms(companion: Companion, terms: Terms) -> None:
    """Raise GalleryError, with the field, where these are no terms under which the person can give it."""
    user = companion.user
    if "@" in folded(terms.published_as):
        raise GalleryError("published_as", _("Choose a name, no address: everybody sees it."), "published_as")
    if reads_like_kith(terms.published_as) and not user.has_perm(MAY_DECIDE):
        detail = _("This reads as if Kith itself had published it. Choose a name without “Kith”.")
        raise GalleryError("published_as", detail, "published_as")
    if not user.is_at_least(AGES[GalleryVersion.Rating(terms.rating)]):
        raise GalleryError("rating", _("You cannot publish what you could not see in the gallery."), "rating")
    if holds_own_address(user, "\n".join((terms.line, terms.summary, *terms.tags))):
        raise GalleryError("own_address", _("Your e-mail address stands in it. Take it out first."))
    require_right_to_give_on(companion, terms.licence)


@transaction.atomic
def submit(
    companion: Companion,
    publication: Publication,
    terms: Terms,
    picture: StoredFile | None,
    now: datetime,
) -> GalleryVersion:
    """Return the version that waits for an operator, in place of one that waited before. GalleryError, LimitError."""
    check_terms(companion, terms)
    user = User.objects.select_for_update(no_key=True).get(pk=companion.user_id)
    if not lock(companion.pk):
        detail = _("This companion was deleted a moment ago. Nothing of it was sent.")
        raise GalleryError(COMPANION_DELETED, detail, status=NOT_FOUND)
    character = GalleryCharacter.objects.owned_by(user).filter(companion=companion).first()
    if character is None:
        if GalleryCharacter.objects.owned_by(user).count() >= settings.GALLERY_CHARACTERS_EACH:
            detail = _("You have published %(count)s characters; there cannot be more. Delete one first.")
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
    """Return the card with its tags, its author, and where it comes from, which a companion made of it keeps."""
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
    """Take it out of the gallery, and take back what waits; companions that were made of it stay."""
    lock_character(character)
    seen = character.versions.filter(state__in=(State.WAITING, State.APPROVED))
    seen.update(state=State.WITHDRAWN, decided_at=now, decided_by=None, reason="")


@transaction.atomic
def delete_character(character: GalleryCharacter) -> None:
    """Delete it with all versions and pictures; companions that were made of it stay, and so does what was reported."""
    lock_character(character)
    StoredFile.objects.filter(gallery_version__character=character).delete()
    character.delete()


def lock_character(character: GalleryCharacter) -> None:
    """Let nobody else decide about it until the transaction ends. GalleryError where it is there no more."""
    if not GalleryCharacter.objects.select_for_update(no_key=True).filter(pk=character.pk).exists():
        detail = _("This character was deleted a moment ago.")
        raise GalleryError("character_deleted", detail, status=NOT_FOUND)


def _drop_old_versions(character: GalleryCharacter) -> None:
    """Delete the oldest of those that nobody sees, where there are many."""
    old: list[UUID] = list(
        character.versions.exclude(state=State.APPROVED)
        .order_by("-number")
        .values_list("pk", flat=True)[VERSIONS_KEPT - 1 :]
    )
    StoredFile.objects.filter(gallery_version__in=old).delete()
    GalleryVersion.objects.filter(pk__in=old).delete()


def delete_unused_pictures(now: datetime) -> int:
    """Delete pictures that never came to a version, because their process had died before; return how many."""
    pictures = StoredFile.objects.filter(kind=StoredFile.Kind.GALLERY, gallery_version=None)
    return pictures.filter(created_at__lt=now - UNUSED_AFTER).delete()[0]
