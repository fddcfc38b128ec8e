"""What a person may do with a reply: stop it, have it made again, have it go on."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.gate import admit
from companions.errors import ReplyStateError
from companions.locking import hold_and_ask
from companions.models import Companion, Reply
from companions.replies.layer import AWAY, layer
from companions.replies.standing import Standing, standing
from companions.replies.start import queue
from database.threads import in_thread

STOPS = "replies.stop"


async def stop(reply: Reply) -> None:
    """Ask for the reply's end: a flag on the row, and word to the process that makes it."""
    await in_thread(_ask_stop, reply)
    try:
        await layer().group_send(STOPS, {"type": "reply.stop", "id": str(reply.pk)})
    except AWAY:
        return  # the flag is read at the next pulse


def _ask_stop(reply: Reply) -> None:
    if not Reply.objects.filter(pk=reply.pk, state__in=Reply.OPEN).update(is_stop_asked=True):
        raise ReplyStateError("reply_ended", _("This reply has already ended."))


@transaction.atomic
def retry(reply: Reply, now: datetime) -> Reply:
    """A new reply to the same message; the earlier one stays as another branch."""
    companion, stands = _ended(reply, now)
    return queue(companion, reply.message, now, stands)


@transaction.atomic
def go_on(reply: Reply, now: datetime) -> Reply:
    """A new reply that takes up a stopped or interrupted one where it ended; each can be taken up once.

    Raises ReplyStateError, GateError.
    """
    companion, stands = _ended(reply, now)
    if reply.state == Reply.State.DONE:
        raise ReplyStateError("reply_complete", _("This reply is complete."))
    if _is_taken_up(reply):
        raise ReplyStateError("reply_taken_up", _("Another reply has gone on from this one already."))
    return queue(companion, reply.message, now, stands, continues=reply)


def _is_taken_up(reply: Reply) -> bool:
    """Whether one that goes on from it, or from such a one, is the answer now: a second one would repeat it."""
    before = [reply.pk]
    while before:
        later = list(Reply.objects.filter(continues__in=before).values_list("pk", "answer"))
        if any(answer for _pk, answer in later):
            return True
        before = [pk for pk, _answer in later]
    return False


def _ended(reply: Reply, now: datetime) -> tuple[Companion, Standing]:
    """The companion, locked, and how things stand; ReplyStateError while a reply to the message is open, GateError."""
    companion, [stands] = hold_and_ask(reply.companion_id, standing(reply.companion, now))
    if companion is None or not Reply.objects.filter(pk=reply.pk).exists():
        raise ReplyStateError("no_such_reply", _("There is no such reply."))
    if Reply.objects.filter(message=reply.message_id, state__in=Reply.OPEN).exists():
        raise ReplyStateError("reply_open", _("This reply is still being made."))
    admit(companion.user, recent_messages=stands.recent_messages, now=now)
    return companion, stands
