"""Deleting a companion, and all that the rehearsal model wrote."""

from datetime import datetime

from django.db import transaction

from companions.deletion.messages import delete_messages
from companions.locking import lock
from companions.models import Companion


@transaction.atomic
def delete_companion(companion: Companion) -> None:
    """The companion is gone with everything of it; how much was used stays counted."""
    lock(companion.pk)
    # Whoever embeds holds memories first and then needs the companion; asked for in that order, neither waits forever.
    list(companion.memories.select_for_update().order_by("pk").values_list("pk"))
    companion.delete()


def delete_rehearsed(companion: Companion, now: datetime) -> int:
    """Delete all that the rehearsal model wrote; how many messages that were."""
    rehearsed = companion.messages.filter(is_rehearsed=True).values_list("pk", flat=True)
    return delete_messages(companion.pk, list(rehearsed), now)
