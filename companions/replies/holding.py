"""What is written for a reply is written while the reply is this process's to make."""

from companions.locking import lock
from companions.models import Reply
from companions.replies.process import process_name


class TurnOverError(Exception):
    """The reply is not this process's to make any more: it was ended, or deleted."""


def hold_claimed(reply: Reply) -> None:
    """Keep what is said to the companion, and deleted, as it is until the transaction ends; TurnOverError.

    What is written for a reply is written under this, so that nothing deleted comes back through it.
    """
    lock(reply.companion_id)
    if not Reply.objects.filter(pk=reply.pk, lease_by=process_name()).under_way().exists():
        raise TurnOverError
