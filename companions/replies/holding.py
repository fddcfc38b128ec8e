"""What is written for a reply is written while the reply is this process's to make."""

from companions.locking import locking
from companions.models import Reply
from companions.replies.process import process_name
from memory.together import Asked, Rows, together

# In SQL, for every turn waits for it.
MINE = "SELECT 1 FROM companions_reply WHERE id = %s AND lease_by = %s AND state IN ('thinking', 'streaming')"


class TurnOverError(Exception):
    """The reply is not this process's to make any more: it was ended, or deleted."""


def hold_claimed(reply: Reply) -> None:
    """Keep what is said to the companion, and deleted, as it is until the transaction ends; TurnOverError.

    What is written for a reply is written under this, so that nothing deleted comes back through it.
    """
    together(*holding_claimed(reply))


def holding_claimed(reply: Reply) -> tuple[Asked[bool], Asked[None]]:
    """The same, to be asked together with others, before them."""
    return locking(reply.companion_id), Asked(MINE, [reply.pk, process_name()], _is_mine)


def _is_mine(rows: Rows) -> None:
    if not rows:
        raise TurnOverError
