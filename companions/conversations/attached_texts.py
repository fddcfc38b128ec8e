"""The texts attached to messages, as a prompt shows them."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from companions.models import Attachment
from memory.models import Page


class AttachedText(NamedTuple):
    """The beginning of a text that was attached, with its file's name, and the ids by which deletion finds prompts."""

    name: str
    text: str
    ids: frozenset[UUID]


def load_texts(companion_id: UUID, message_ids: Collection[UUID], most_pages: int) -> list[AttachedText]:
    """Return the first pages of the texts attached to these messages, the newest message's first. Two queries.

    Deleted pages and those that are kept from models are left out.
    """
    sent = Attachment.objects.filter(companion=companion_id, message__in=message_ids, document__isnull=False)
    pages = Page.objects.filter(
        companion=companion_id, document__attachments__in=sent, number__lte=most_pages
    ).exclude(text="")
    by_document: dict[UUID, list[Page]] = {}
    for page in pages.exclude(memory__is_private=True).order_by("number").distinct():
        by_document.setdefault(page.document_id, []).append(page)
    texts = []
    for attachment in sent.order_by("-message__said_at", "created_at", "id"):
        shown = by_document.get(attachment.document_id, []) if attachment.document_id else []
        ids = {id for page in shown for id in (page.document_id, page.memory_id) if id}
        if shown:
            texts.append(AttachedText(attachment.name, "".join(page.text for page in shown), frozenset(ids)))
    return texts
