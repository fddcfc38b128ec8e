"""What a companion thinks of itself and knows of its user, as its user writes it: one writer at a time."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from companions.locking import lock
from companions.models import Companion
from memory import understanding
from memory.models import Revision


@transaction.atomic
def rewrite(companion: Companion, about: str, texts: Sequence[str], now: datetime) -> Revision:
    """The revision as the user writes it; the one before where nothing has changed."""
    lock(companion.pk)
    return understanding.rewrite(companion.pk, about, texts, now)


@transaction.atomic
def restore(companion: Companion, revision: Revision, now: datetime) -> Revision:
    """The revision that holds from now on, which says what the given one says; Revision.DoesNotExist.

    It is read after the lock: a deletion that was waited for may have taken something out of it.
    """
    lock(companion.pk)
    there = Revision.objects.of(companion.pk, revision.about).get(pk=revision.pk)
    return understanding.restore(there, now)
