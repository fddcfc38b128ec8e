"""The beginning of a turn: one transaction saves the message, its memory and a reply, which waits or has its turn."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.gate import GateError, admit
from companions.errors import ConflictError, TextError
from companions.locking import hold
from companions.models import Companion, Conversation, Message, Reply
from companions.prompts import TEMPLATE
from companions.replies.material import Turn
from companions.replies.process import process_name
from companions.saying import open_session, say
from companions.text import checked

WAITING_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Started:
    """A saved message and its reply; `is_new` is False where the same message had been sent before."""

    message: Message
    reply: Reply
    is_new: bool

    @property
    def turn(self) -> Turn | None:
        """The turn, where it was taken as the message was saved: it is this process's to make."""
        taken = self.is_new and self.reply.state == Reply.State.THINKING
        return Turn(self.reply, self.reply.companion, self.message) if taken else None


@transaction.atomic
def start(
    companion: Companion, text: str, client_id: str | None, now: datetime, *, at_once: bool = False
) -> Started:
    """The message and its queued reply; `at_once`, the reply has its turn already where the companion makes no other.

    Raises TextError, ConflictError, GateError; then nothing is saved.
    """
    checked(text)
    held = hold(companion.pk)
    if held is None:
        raise TextError("no_such_companion", _("There is no such companion of yours."))
    return _sent_before(held, text, client_id) or _new(held, text, client_id, now, at_once=at_once)


def _sent_before(companion: Companion, text: str, client_id: str | None) -> Started | None:
    message = client_id and Message.objects.filter(companion=companion, client_id=client_id).first()
    if not message:
        return None
    if message.text != text or message.role != Message.Role.USER:
        raise ConflictError("client_id_taken", _("Another message was sent under this id."))
    reply = message.replies.order_by("-created_at").first() or queue(companion, message, message.said_at)
    return Started(message, reply, is_new=False)


def _new(companion: Companion, text: str, client_id: str | None, now: datetime, *, at_once: bool) -> Started:
    admit(companion.user, recent_messages=recent_messages(companion, now), now=now)
    conversation = companion.conversation
    message = Message(
        companion=companion,
        conversation=conversation,
        session=open_session(conversation, now),
        parent_id=conversation.head_id,
        role=Message.Role.USER,
        author=companion.user.name,
        text=text,
        client_id=client_id,
        said_at=now,
    )
    say(message, now)
    Conversation.objects.filter(pk=conversation.pk).update(head=message)
    return Started(message, queue(companion, message, now, at_once=at_once), is_new=True)


def recent_messages(companion: Companion, now: datetime) -> int:
    """How many replies this person asked of all companions within the last minute, retries among them."""
    asked = Reply.objects.owned_by(companion.user)
    return len(asked.filter(created_at__gt=now - timedelta(minutes=1)).values_list("pk"))


def queue(
    companion: Companion,
    message: Message,
    now: datetime,
    continues: Reply | None = None,
    *,
    at_once: bool = False,
) -> Reply:
    """A reply that waits for its turn, after every other of this companion. Call it with the companion locked.

    `at_once` it has its turn where none is open. GateError where too many wait already.
    """
    most = settings.REPLIES_WAITING
    newest = list(companion.replies.order_by("-created_at").values_list("state", "created_at")[:most])
    waiting = [state for state, _created_at in newest if state == Reply.State.QUEUED]  # no older one waits
    if len(waiting) >= most:
        detail = _("%(name)s has many messages to answer yet. Wait for an answer, then go on.")
        raise GateError("too_many_waiting", detail % {"name": companion.name}, WAITING_SECONDS)
    created_at = max(now, newest[0][1] + timedelta(microseconds=1)) if newest else now
    is_free = at_once and not any(
        state in Reply.OPEN for state, _created_at in newest
    )  # then no older one is
    taken = {"state": Reply.State.THINKING, "started_at": now, "template": TEMPLATE} if is_free else {}
    return Reply.objects.create(
        companion=companion,
        message=message,
        continues=continues,
        text=continues.text if continues else "",
        created_at=created_at,
        lease_by=process_name(),
        lease_at=now,
        **taken,
    )
