"""The beginning of a turn: one transaction saves the message, its memory and a reply, which waits or has its turn."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.gate import GateError, admit
from companions.errors import ConflictError, TextError
from companions.locking import hold_and_ask
from companions.models import Companion, Message, Reply
from companions.prompts import TEMPLATE
from companions.replies.material import Turn
from companions.replies.process import process_name
from companions.replies.standing import Standing, standing
from companions.saying import open_session, say
from companions.text import checked
from memory.together import Asked, nothing
from memory.writing import insert, inserting

WAITING_SECONDS = 10
HEAD = "UPDATE companions_conversation SET head_id = %s WHERE id = %s"


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
    held, [stands] = hold_and_ask(companion.pk, standing(companion, now, client_id))
    if held is None:
        raise TextError("no_such_companion", _("There is no such companion of yours."))
    if stands.sent_before:
        return _sent_before(held, text, stands.sent_before, stands)
    return _new(held, text, client_id, now, stands, at_once=at_once)


def _sent_before(companion: Companion, text: str, message_id: UUID, stands: Standing) -> Started:
    message = Message.objects.get(companion=companion, pk=message_id)
    if message.text != text or message.role != Message.Role.USER:
        raise ConflictError("client_id_taken", _("Another message was sent under this id."))
    reply = message.replies.order_by("-created_at").first()
    return Started(message, reply or queue(companion, message, message.said_at, stands), is_new=False)


def _new(
    companion: Companion, text: str, client_id: str | None, now: datetime, stands: Standing, *, at_once: bool
) -> Started:
    admit(companion.user, recent_messages=stands.recent_messages, now=now)
    conversation = companion.conversation
    message = Message(
        companion=companion,
        conversation=conversation,
        session_id=stands.session_id or open_session(conversation, now).pk,
        parent_id=conversation.head_id,
        role=Message.Role.USER,
        author=companion.user.name,
        text=text,
        client_id=client_id,
        said_at=now,
    )
    reply = _queued(companion, message, now, stands, at_once=at_once)
    say(message, now, Asked(HEAD, [message.pk, conversation.pk], nothing), *inserting(reply))
    conversation.head_id = message.pk
    return Started(message, reply, is_new=True)


def queue(
    companion: Companion, message: Message, now: datetime, stands: Standing, continues: Reply | None = None
) -> Reply:
    """A reply that waits for its turn, after every other of this companion. Call it with the companion locked.

    GateError where too many wait already.
    """
    reply = _queued(companion, message, now, stands, continues)
    insert(reply)
    return reply


def _queued(
    companion: Companion,
    message: Message,
    now: datetime,
    stands: Standing,
    continues: Reply | None = None,
    *,
    at_once: bool = False,
) -> Reply:
    """The reply, which is yet to be saved; `at_once` it has its turn where none is open."""
    if stands.waiting >= settings.REPLIES_WAITING:
        detail = _("%(name)s has many messages to answer yet. Wait for an answer, then go on.")
        raise GateError("too_many_waiting", detail % {"name": companion.name}, WAITING_SECONDS)
    created_at = max(now, stands.newest_at + timedelta(microseconds=1)) if stands.newest_at else now
    has_turn = at_once and stands.is_free
    taken = {"state": Reply.State.THINKING, "started_at": now, "template": TEMPLATE} if has_turn else {}
    return Reply(
        companion=companion,
        message=message,
        continues=continues,
        text=continues.text if continues else "",
        emotions=continues.emotions if continues else [],
        created_at=created_at,
        lease_by=process_name(),
        lease_at=now,
        **taken,
    )
