"""One writer at a time for each companion."""

from uuid import UUID

from companions.models import Companion


def lock(companion_id: UUID) -> bool:
    """Return whether the companion is there; it is nobody else's to change until the transaction ends.

    The lock lets rows be added that point at the companion (FOR NO KEY UPDATE).
    """
    row = Companion.objects.filter(pk=companion_id).select_for_update(no_key=True)
    return row.values_list("pk", flat=True).first() is not None


def hold(companion_id: UUID) -> Companion | None:
    """Return the companion with its user and conversation, locked.

    Locked first and read afterwards: what a locking query has joined is as it was before the lock was waited for.
    """
    if not lock(companion_id):
        return None
    return Companion.objects.select_related("user", "conversation").get(pk=companion_id)
