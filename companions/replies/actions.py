"""What a person may do with a reply: stop it, have it made again, have it go on."""

import contextlib
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from companions.errors import ReplyStateError
from companions.events import REDIS_UNAVAILABLE, publish
from companions.locks import hold
from companions.models import Companion, Reply
from companions.replies.start import admit_message, queue
from database.threads import in_thread

STOPS = "replies.stop"


async def stop(reply: Reply) -> None:
    """Ask for the reply's end: a flag on the row, and word to the process that makes it."""
    row = Reply.objects.filter(pk=reply.pk, state__in=Reply.OPEN)
    if not await in_thread(row.update, is_stop_asked=True):
        raise ReplyStateError("reply_ended", _("This reply has already ended."))
    await tell_to_stop(reply)


async def tell_to_stop(reply: Reply) -> None:
    """Tell the process that makes the reply to stop; where Redis is away it reads the flag at its next heartbeat."""
    with contextlib.suppress(*REDIS_UNAVAILABLE):
        await publish((STOPS, {"id": str(reply.pk)}))


@transaction.atomic
def retry(reply: Reply, now: datetime) -> Reply:
    """Queue a new reply to the same message; the earlier one stays as another branch. ReplyStateError, GateError."""
    return queue(_hold_ended(reply, now), reply.message, now)


@transaction.atomic
def go_on(reply: Reply, now: datetime) -> Reply:
    """Queue a new reply that takes up a stopped or interrupted one where it ended; each can be taken up once.

    Raises ReplyStateError, GateError.
    """
    companion = _hold_ended(reply, now)
    if reply.state == Reply.State.DONE:
        raise ReplyStateError("reply_complete", _("This reply is complete."))
    if _is_taken_up(reply):
        raise ReplyStateError("reply_taken_up", _("Another reply has gone on from this one already."))
    return queue(companion, reply.message, now, continues=reply)


def _is_taken_up(reply: Reply) -> bool:
    """Whether one that goes on from it, or from such a one, is the answer now: a second one would repeat it."""
    before = [reply.pk]
    while before:
        later = list(Reply.objects.filter(continues__in=before).values_list("pk", "answer"))
        if any(answer for _pk, answer in later):
            return True
        before = [pk for pk, _answer in later]
    return False


def _hold_ended(reply: Reply, now: datetime) -> Companion:
    """Lock the companion; ReplyStateError while a reply to the message is open, GateError."""
    companion = hold(reply.companion_id)
    if companion is None or not Reply.objects.filter(pk=reply.pk).exists():
        raise ReplyStateError("no_such_reply", _("There is no such reply."))
    if Reply.objects.filter(message=reply.message_id, state__in=Reply.OPEN).exists():
        raise ReplyStateError("reply_open", _("This reply is still being made."))
    admit_message(companion, now)
    return companion
