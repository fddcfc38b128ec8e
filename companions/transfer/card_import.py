"""Import of character cards: an upload is kept while its user looks at it, and made into a companion."""

import io
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import file_digest, sha256
from typing import IO, Any
from uuid import UUID
from zipfile import ZIP_STORED, ZipFile

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.models import User
from cards.assets import Asset
from cards.reader import ReadCard
from companions import creation
from companions.errors import CompanionsError
from companions.lore.editing import make_book
from companions.lore.quota import require_room
from companions.models import Card, CardUpload, Companion, Picture
from companions.models.companion import MAX_GREETINGS
from files.contents import store_content, store_picture
from files.errors import FilesError
from files.models import StoredFile
from files.pictures import picture
from files.uploads import UNUSED_AFTER
from text.strings import one_line

# The card's field for each of the companion's.
FIELDS = {
    "nickname": "nickname",
    "persona": "description",
    "personality": "personality",
    "scenario": "scenario",
    "greeting": "first_mes",
    "alternate_greetings": "alternate_greetings",
    "example_dialogue": "mes_example",
    "system_prompt": "system_prompt",
    "post_history_instructions": "post_history_instructions",
}
PICTURE_NOT_KEPT, ASSETS_NOT_KEPT = "picture_not_kept", "assets_without_room"
UPLOADS_EACH = 10  # kept of one person; the oldest are dropped
ASSETS_LIST = "assets.json"


class CardError(CompanionsError):
    """A companion cannot be made of a card, or a card of a companion; nothing was saved."""


def keep_upload(user: User, read: ReadCard, content: bytes | IO[bytes], now: datetime) -> CardUpload:
    """Save a card that was read from a file as an upload, kept for a day; drop the user's oldest above UPLOADS_EACH.

    The picture is left out if it is invalid or there is no room for it, and the further files if there is no room; the
    upload's `remarks` say so. Raise LimitError if there is no room for the card itself.
    """
    kept = CardUpload.objects.owned_by(user).order_by("-created_at").values_list("pk", flat=True)
    for pk in list(kept[UPLOADS_EACH - 1 :]):
        drop_upload(pk)
    require_room(user, len(json.dumps(read.card, ensure_ascii=False)))
    drawn, packed, remarks = None, None, {*read.remarks}
    try:
        if read.picture:
            drawn = store_picture(user, picture(read.picture), StoredFile.Kind.CARD, now)
    except FilesError:
        remarks.add(PICTURE_NOT_KEPT)
    try:
        if read.assets:
            packed = _pack(user, read.assets, now)
    except FilesError:
        remarks.add(ASSETS_NOT_KEPT)
    return CardUpload.objects.create(
        user=user,
        content=read.card,
        form=read.form,
        version=read.version,
        remarks=sorted(remarks),
        sha256=_digest(content),
        picture=drawn,
        assets=packed,
        created_at=now,
    )


def make_companion(upload: CardUpload, now: datetime, *, name: str = "", greeting: int = 0) -> Companion:
    """Create a companion from the card, drop the upload, and return the companion.

    `name` replaces the card's name. `greeting` is the number of the greeting to begin with, 0 for the first. Raise
    CardError, LoreError, LimitError.
    """
    if upload.form == CardUpload.Form.LOREBOOK:
        raise CardError("no_character", _("This is a lorebook. Give it to a companion you already have."))
    data: dict[str, Any] = upload.content["data"]
    fields = read_fields(data)
    name = one_line(name or data["name"] or data["nickname"])
    _check_fields(name, fields, greeting)
    with transaction.atomic():
        if not CardUpload.objects.select_for_update().filter(pk=upload.pk).exists():
            raise CardError(
                "no_such_card",
                _("This card has already been used, or has been removed in the meantime. Send it again."),
            )
        companion = creation.create(upload.user, name=name, first_greeting=greeting, now=now, **fields)
        kept = {key: value for key, value in data.items() if key not in {*FIELDS.values(), "character_book"}}
        if assets := upload.assets:
            assets.companion = companion
            assets.save(update_fields=["companion"])
        content = {**upload.content, "data": kept}
        Card.objects.create(
            companion=companion, content=content, sha256=upload.sha256, assets=assets, created_at=now
        )
        if file := upload.picture:
            file.kind, file.companion = StoredFile.Kind.PICTURE, companion
            file.save(update_fields=["kind", "companion"])
            Picture.objects.create(companion=companion, file=file)
        upload.delete()  # before the lorebook, so that its size no longer counts
        if book := data.get("character_book"):
            make_book(upload.user, book, now, companion=companion)
    return companion


def read_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the companion's fields, except its name, from the data of a normalised card."""
    fields: dict[str, Any] = {field: data[key] for field, key in FIELDS.items()}
    note = data["extensions"].get("depth_prompt")
    if isinstance(note, dict) and isinstance(note.get("prompt"), str) and note["prompt"].strip():
        depth, role = note.get("depth"), note.get("role")
        fields["depth_prompt"] = note["prompt"]
        fields["depth_prompt_depth"] = min(depth, 9999) if isinstance(depth, int) and depth >= 0 else 4
        fields["depth_prompt_role"] = role if role in Companion.DepthRole.values else "system"
    return fields


def drop_upload(upload_id: UUID) -> None:
    """Delete the upload and its files, except files that a companion uses by now."""
    files = StoredFile.objects.filter(kind=StoredFile.Kind.CARD)
    files.filter(Q(card_upload=upload_id) | Q(uploaded_assets_of=upload_id), assets_of=None).delete()
    CardUpload.objects.filter(pk=upload_id).delete()


def delete_unused_uploads(now: datetime) -> int:
    """Delete uploaded cards that were not used within a day, and their files; return how many uploads there were."""
    old = CardUpload.objects.filter(created_at__lt=now - UNUSED_AFTER)
    uploads = list(old.values_list("pk", flat=True))
    for pk in uploads:  # one by one, since each may be large
        CardUpload.objects.filter(pk=pk).delete()
    left = StoredFile.objects.filter(
        kind=StoredFile.Kind.CARD, card_upload=None, uploaded_assets_of=None, assets_of=None
    )
    left.filter(created_at__lt=now - UNUSED_AFTER).delete()
    return len(uploads)


def _digest(content: bytes | IO[bytes]) -> str:
    if isinstance(content, bytes):
        return sha256(content).hexdigest()
    content.seek(0)
    return file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]


def _pack(user: User, assets: Sequence[Asset], now: datetime) -> StoredFile:
    """Store a card's further files as one ZIP, of numbered files and a list, and return it. Raise FilesError."""
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_STORED) as archive:
        listed = [
            {"type": asset.type, "name": asset.name, "ext": asset.ext, "uri": asset.uri} for asset in assets
        ]
        archive.writestr(ASSETS_LIST, json.dumps(listed))
        for number, asset in enumerate(assets):
            archive.writestr(str(number), asset.content)
    return store_content(user, packed.getvalue(), StoredFile.Kind.CARD, "application/zip", now)


def _check_fields(name: str, fields: Mapping[str, Any], greeting: int) -> None:
    """Raise CardError unless a companion can have these fields."""
    if not 0 <= greeting <= len(fields["alternate_greetings"]):
        raise CardError("no_such_greeting", _("The card has no such greeting."))
    if not name:
        raise CardError("no_name", _("The card has no name. Give it one."))
    if len(fields["alternate_greetings"]) > MAX_GREETINGS:
        detail = _("The card has more than %(most)s other greetings. Remove some of them, and send it again.")
        raise CardError("card_field", detail % {"most": MAX_GREETINGS})
    for field, value in {"name": name, **fields}.items():
        model_field = Companion._meta.get_field(field)
        most = getattr(getattr(model_field, "base_field", model_field), "max_length", None)
        longest = max(map(len, value), default=0) if isinstance(value, list) else len(str(value))
        if most and longest > most:
            detail = _(
                "%(field)s: %(count)s characters are too many; there can be at most %(most)s. Shorten it in the card."
            )
            label = str(getattr(model_field, "verbose_name", field)).capitalize()
            raise CardError("card_field", detail % {"field": label, "count": longest, "most": most})
