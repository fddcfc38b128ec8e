"""Make a companion of a gallery character. It has a copy of the card, and stays whatever happens to the publication."""

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.idempotency import create_once
from accounts.models import User
from companions import creation
from companions.errors import GalleryError
from companions.face.portraits import choose_features
from companions.gallery.catalogue import GalleryEntry
from companions.models import CardUpload, GalleryVersion
from companions.transfer import card_import
from files.contents import copy_picture
from files.models import StoredFile


def adopt(
    user: User,
    entry: GalleryEntry,
    now: datetime,
    *,
    key: str | None,
    name: str = "",
    greeting: int = 0,
) -> UUID:
    """Make a companion of the gallery entry and return its id; once for each idempotency `key`.

    Raise GalleryError if the entry is not approved; CardError, LimitError, FilesError.
    """
    body = f"{entry.id} {entry.number} {name} {greeting}"
    if entry.character is not None:
        character = entry.character
        if not 0 <= greeting < len(character.greetings):
            raise card_import.CardError("no_such_greeting", _("The card has no such greeting."))
        begun_with = character.greetings[greeting]

        def begin() -> UUID:
            return creation.begin_as(user, character, begun_with, now, name=name).pk

        return create_once(user, "adopt_character", key, body, begin)[0]
    version = entry.version
    refusal = GalleryError(
        "not_approved", _("This character is not in the gallery at the moment."), status=409
    )
    if version is None or version.state != GalleryVersion.State.APPROVED:
        raise refusal
    upload = _copy(user, version, now)
    upload_id = upload.pk

    def make() -> UUID:
        if not GalleryVersion.objects.filter(pk=version.pk, state=GalleryVersion.State.APPROVED).exists():
            raise refusal  # taken down while its picture was copied
        companion = card_import.make_companion(upload, now, name=name, greeting=greeting)
        choose_features(companion, version.seed, version.chosen)
        companion.tint = version.tint
        companion.save(update_fields=["tint"])
        return companion.pk

    try:
        return create_once(user, "adopt_character", key, body, make)[0]
    finally:
        card_import.drop_upload(upload_id)  # if no companion was made of it


def _copy(user: User, version: GalleryVersion, now: datetime) -> CardUpload:
    """Return the version's card as an upload of the user's, with a copy of its picture. Raise FilesError."""
    picture = copy_picture(user, version.picture, StoredFile.Kind.CARD, now) if version.picture else None
    return CardUpload.objects.create(
        user=user,
        content=version.content,
        form=CardUpload.Form.JSON,
        version=CardUpload.Version.V3,
        picture=picture,
        created_at=now,
    )
