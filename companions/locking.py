"""One writer at a time for each companion."""

from uuid import UUID

from django.db import connection

from companions.models import Companion
from memory.prepared import ONE, Prepared

HELD = Prepared(lambda: Companion.objects.select_related("user", "conversation").filter(pk=ONE).order_by())


def lock(companion_id: UUID) -> bool:
    """Whether the companion is there; it is nobody else's to change until the transaction ends.

    The lock lets rows be added that point at the companion (FOR NO KEY UPDATE).
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM companions_companion WHERE id = %s FOR NO KEY UPDATE", [companion_id])
        return bool(cursor.rowcount)


def hold(companion_id: UUID) -> Companion | None:
    """The companion with its user and conversation, locked.

    Locked first and read afterwards: what a locking query has joined is as it was before the lock was waited for.
    """
    if not lock(companion_id):
        return None
    [companion] = HELD({ONE: companion_id})
    return companion
