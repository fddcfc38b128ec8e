"""Files sent with a message: pictures, which are re-encoded and deleted with their last message, and texts to read.

A companion cannot see pictures: its prompt only says that they were sent, and their names. A text becomes a document
like any other, which stays when its message is deleted.
"""

import asyncio
import unicodedata
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils.translation import gettext as _

from accounts.limits.usage import admit_work
from companions.deletion.deletion import messages_hidden
from companions.errors import AttachmentError, ConflictError
from companions.memories.editing import delete_document, give_document
from companions.models import Attachment, Companion, Message
from companions.models.companion import lock
from files.contents import store_picture
from files.errors import ContentError
from files.models import StoredFile
from files.pictures import PICTURE, Drawn, picture
from jobs.background import in_thread
from memory.documents.intake import read_file
from text.strings import is_storable

MAX_ATTACHMENTS = 6  # of one message
TEXTS = (".txt", ".text", ".md", ".markdown")
NAME_CHARACTERS = 120
UNSENT_LIFETIME = timedelta(days=1)


async def add_file(companion: Companion, content: bytes, name: str, now: datetime) -> Attachment:
    """Store a file that is not sent yet: as a text if its name ends like one's and it is no picture, or as a picture.

    Raise FilesError, DocumentError or GateError, and store nothing, if it is invalid or too large, or there is no room.
    """
    if name.lower().endswith(TEXTS) and not PICTURE.match(content):
        return await in_thread(keep_text, companion, content, name, now)
    if not PICTURE.match(content):
        detail = _(
            "Kith cannot read this file. Attach a picture (PNG, JPEG, WebP, GIF) or a plain text (.txt, .md)."
        )
        raise ContentError("no_picture", detail)
    drawn = await asyncio.to_thread(picture, content)
    return await in_thread(keep_picture, companion, drawn, name, now)


def keep_picture(companion: Companion, drawn: Drawn, name: str, now: datetime) -> Attachment:
    """Store a re-encoded picture as an attachment; raise FilesError if there is no room."""
    file = store_picture(companion.user, drawn, StoredFile.Kind.ATTACHMENT, now, companion=companion)
    try:
        return Attachment.objects.create(
            companion=companion, file=file, name=clean_name(name), created_at=now
        )
    except DatabaseError:
        file.delete()
        raise


def keep_text(companion: Companion, content: bytes, name: str, now: datetime) -> Attachment:
    """Create a document of the companion from the text, and an attachment for it."""
    admit_work(companion.user, "documents", now)
    named = clean_name(name)
    title, text = named.rpartition(".")[0] or named, read_file([content])
    document = give_document(companion, title, text, now)
    return Attachment.objects.create(companion=companion, document=document, name=named, created_at=now)


@transaction.atomic
def remove(attachment: Attachment, now: datetime) -> None:
    """Delete the attachment: a picture on all branches that it was sent on, a text with its document if it is unsent.

    The document of a text that was sent stays.
    """
    lock(attachment.companion_id)  # its message may be sent or reworded meanwhile
    there = Attachment.objects.filter(pk=attachment.pk).select_related("file", "document").first()
    if there is None:
        return
    if there.file:
        there.file.delete()
    elif there.document and not there.message_id:
        delete_document(there.document, now)
    else:
        there.delete()


def clean_name(name: str) -> str:
    """Return the name of a file without folders and control characters, shortened in the middle if it is too long.

    If nothing is left of it, return the word for "picture".
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    seen = "".join(character for character in last if unicodedata.category(character)[0] != "C")
    seen = " ".join(seen.split())
    if not seen or not is_storable(seen):
        return _("picture")
    if len(seen) <= NAME_CHARACTERS:
        return seen
    return f"{seen[: NAME_CHARACTERS - 13]}…{seen[-12:]}"


def as_json(attachment: Attachment) -> dict[str, Any]:
    """Return the attachment as pages and the API send it."""
    return {
        "id": str(attachment.pk),
        "name": attachment.name,
        "message_id": str(attachment.message_id) if attachment.message_id else None,
        "file_id": str(attachment.file_id) if attachment.file_id else None,
        "document_id": str(attachment.document_id) if attachment.document_id else None,
        "url": attachment.url,
        "created_at": attachment.created_at.isoformat(),
    }


def attach(message: Message, attachment_ids: Collection[UUID]) -> None:
    """Attach the files to the new message; raise AttachmentError, or ConflictError if one belongs to another message."""
    ids = set(attachment_ids)
    if len(ids) > MAX_ATTACHMENTS:
        most = _("A message can have up to %(most)d files. Send the rest with your next message.")
        raise AttachmentError("too_many_attachments", most % {"most": MAX_ATTACHMENTS})
    mine = Attachment.objects.filter(companion=message.companion_id, pk__in=ids)
    if mine.count() < len(ids):
        detail = _("A file in this message is no longer there. Take the message back and add the file again.")
        raise AttachmentError("no_such_attachment", detail, 404)
    if mine.exclude(message=None).exists():
        raise ConflictError("attachment_sent", _("A file in this message has already been sent."))
    mine.update(message=message)


def check_attached(message: Message, attachment_ids: Collection[UUID]) -> None:
    """Raise ConflictError if any of these files is not the message's. Files that have been deleted are ignored."""
    mine = Attachment.objects.filter(companion=message.companion_id, pk__in=set(attachment_ids))
    if mine.exclude(message=message).exists():
        raise ConflictError("client_id_taken", _("Another message has already been sent under this id."))


def copy_attachments(source: Message, target: Message) -> None:
    """Copy the attachments of a message to the one that is sent in its place."""
    attachments = list(source.attachments.all())
    for attachment in attachments:
        attachment.pk, attachment.message = uuid4(), target
    Attachment.objects.bulk_create(attachments)


def sweep_attachments(now: datetime) -> int:
    """Delete attachments not sent within a day, and pictures that never became one; return how many."""
    since = now - UNSENT_LIFETIME
    unsent = StoredFile.objects.filter(kind=StoredFile.Kind.ATTACHMENT).exclude(
        attachments__message__isnull=False
    )
    ids = list(unsent.filter(created_at__lt=since).values_list("pk", flat=True))
    StoredFile.objects.filter(pk__in=ids).delete()
    unsent_texts = Attachment.objects.filter(message=None, document__isnull=False, created_at__lt=since)
    texts = list(unsent_texts.select_related("document"))
    for attachment in texts:
        remove(attachment, now)
    return len(ids) + len(texts)


@receiver(post_delete, sender=Attachment)
def delete_file(instance: Attachment, **_more: object) -> None:
    """Delete the picture of an attachment once no other attachment uses it."""
    if instance.file_id:
        StoredFile.objects.filter(pk=instance.file_id, attachments=None).delete()


@receiver(messages_hidden, sender=Message)
def delete_hidden(companion_id: UUID, ids: Collection[UUID], **_more: object) -> None:
    """Delete the attachments of messages that are now hidden from prompts, although their texts stay on the page."""
    Attachment.objects.filter(companion=companion_id, message__in=ids).delete()
