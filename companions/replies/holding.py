"""What is written for a reply is written while the reply is this process's to make."""

from django.db import connection

from companions.locking import lock
from companions.models import Reply
from companions.replies.process import process_name

# In SQL, for every turn waits for it.
MINE = "SELECT FROM companions_reply WHERE id = %s AND lease_by = %s AND state IN ('thinking', 'streaming')"


class TurnOverError(Exception):
    """The reply is not this process's to make any more: it was ended, or deleted."""


def hold_claimed(reply: Reply) -> None:
    """Keep what is said to the companion, and deleted, as it is until the transaction ends; TurnOverError.

    What is written for a reply is written under this, so that nothing deleted comes back through it.
    """
    lock(reply.companion_id)
    with connection.cursor() as cursor:
        cursor.execute(MINE, [reply.pk, process_name()])
        if not cursor.rowcount:
            raise TurnOverError
