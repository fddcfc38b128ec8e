"""One writer at a time for each companion."""

from uuid import UUID

from companions.models import Companion


def hold(companion_id: UUID) -> Companion | None:
    """The companion with its user and conversation, nobody else's to change until the transaction ends.

    Locked first and read afterwards: what a locking query has joined is as it was before the lock was waited for.
    The lock lets rows be added that point at the companion (FOR NO KEY UPDATE).
    """
    if not Companion.objects.select_for_update(no_key=True).filter(pk=companion_id):
        return None
    return Companion.objects.select_related("user", "conversation").filter(pk=companion_id).first()
