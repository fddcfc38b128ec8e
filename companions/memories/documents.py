"""Documents of a companion: given and deleted, each all of it or nothing."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from companions.deletion import forget_gists
from companions.locks import lock
from companions.models import Companion
from jobs.enqueue import enqueue
from memory.documents.intake import split_text, store_document
from memory.errors import DocumentError
from memory.models import Document, Memory


def give_document(
    companion: Companion, title: str, text: str, now: datetime, id: UUID | None = None
) -> Document:
    """The document, stored with its pages; their gists follow. DocumentError."""
    given = split_text(companion.pk, title, text)
    with transaction.atomic():
        if not lock(companion.pk):
            raise DocumentError("no_such_companion", _("There is no such companion of yours."), 404)
        document = store_document(companion.pk, given, now, id)
        enqueue("companions.tasks.write_gists", str(document.pk))
    return document


@transaction.atomic
def delete_document(document: Document, now: datetime) -> None:
    """The document is gone with its pages, their memories, and what turns have kept of those."""
    lock(document.companion_id)
    memories = Memory.objects.of(document.companion_id).filter(page__document=document)
    gone = {document.pk, *memories.values_list("pk", flat=True)}
    forget_gists(document.companion_id, gone, now)
    Document.objects.filter(companion_id=document.companion_id, pk=document.pk).delete()
