"""What a companion forgot or revised as its person asked it to, for the person to see and to undo."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Prefetch
from django.utils.translation import gettext as _

from companions.locking import lock
from companions.models import Companion
from memory.errors import UndoError
from memory.models import Retraction
from memory.revising import undo_retraction


def made_by_replies() -> "Prefetch[Any]":
    """To be fetched with messages: what the replies that made them closed, and what took its place; one query."""
    every = Retraction.objects.select_related("memory__replaced_by")
    return Prefetch("made_by__retractions", every.defer("memory__entry", "memory__replaced_by__entry"))


@transaction.atomic
def undo(companion: Companion, memory_id: UUID, now: datetime) -> None:
    """Let the memory hold again, or its slot say it again; UndoError, AlwaysError."""
    lock(companion.pk)
    mine = Retraction.objects.filter(companion=companion, memory=memory_id)
    retraction = mine.select_related("memory__replaced_by").first()
    if retraction is None:
        raise UndoError("nothing_to_undo", _("There is nothing to undo here."))
    undo_retraction(retraction, now)
