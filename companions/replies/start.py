"""The beginning of a turn: one transaction saves the message, its memory and a reply, which waits or has its turn."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.usage import GateError, admit
from companions.conversations.messages import check_text, open_session, say
from companions.errors import ConflictError, TextError
from companions.locks import hold
from companions.models import Companion, Conversation, Message, Reply
from companions.prompting.turn_prompt import TEMPLATE
from jobs.process import process_name

RETRY_AFTER_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Started:
    """A saved message and its reply; `is_new` is False where the same message had been sent before."""

    message: Message
    reply: Reply
    is_new: bool

    @property
    def has_turn(self) -> bool:
        """Whether the turn was taken as the message was saved: it is this process's to make."""
        return self.is_new and self.reply.state == Reply.State.THINKING


class Start(Protocol):
    """`start`, or what does more in the same transaction."""

    def __call__(
        self, companion: Companion, text: str, client_id: str | None, now: datetime, /, *, at_once: bool
    ) -> Started: ...


@transaction.atomic
def start(
    companion: Companion, text: str, client_id: str | None, now: datetime, *, at_once: bool = False
) -> Started:
    """Save the message and its queued reply; `at_once`, the reply has its turn already where the companion makes no
    other.

    Raises TextError, ConflictError, GateError; then nothing is saved.
    """
    check_text(text)
    held = hold(companion.pk)
    if held is None:
        raise TextError("no_such_companion", _("There is no such companion of yours."))
    before = Message.objects.filter(companion=held, client_id=client_id).first() if client_id else None
    if before:
        return _find_sent_before(held, before, text)
    admit_message(held, now)
    conversation = held.conversation
    message = Message(
        companion=held,
        conversation=conversation,
        session=open_session(conversation, now),
        parent_id=conversation.head_id,
        role=Message.Role.USER,
        author=held.user.name,
        text=text,
        client_id=client_id,
        said_at=now,
    )
    say(message, now)
    reply = queue(held, message, now, at_once=at_once)
    Conversation.objects.filter(pk=conversation.pk).update(head=message)
    conversation.head_id = message.pk
    return Started(message, reply, is_new=True)


def _find_sent_before(companion: Companion, message: Message, text: str) -> Started:
    if message.text != text or message.role != Message.Role.USER:
        raise ConflictError("client_id_taken", _("Another message was sent under this id."))
    reply = message.replies.order_by("-created_at").first()
    return Started(message, reply or queue(companion, message, message.said_at), is_new=False)


def admit_message(companion: Companion, now: datetime) -> None:
    """Raise GateError where the person asked too much of all companions within the last minute, or has no tokens left."""
    recent = Reply.objects.filter(
        companion__user=companion.user_id, created_at__gt=now - timedelta(minutes=1)
    )
    admit(companion.user, recent_messages=recent.count(), now=now)


def queue(
    companion: Companion,
    message: Message,
    now: datetime,
    continues: Reply | None = None,
    *,
    at_once: bool = False,
) -> Reply:
    """Save a reply that waits for its turn after every other of this companion; `at_once` it has it where none is open.

    Call it with the companion locked. GateError where too many wait already.
    """
    others = Reply.objects.filter(companion=companion).order_by("-created_at")
    # No older reply waits, or is under way, than the newest.
    newest = list(others.values_list("state", "created_at")[: settings.REPLIES_WAITING])
    states = [state for state, _created_at in newest]
    if states.count(Reply.State.QUEUED) >= settings.REPLIES_WAITING:
        detail = _("%(name)s has many messages to answer yet. Wait for an answer, then go on.")
        raise GateError("too_many_waiting", detail % {"name": companion.name}, RETRY_AFTER_SECONDS)
    has_turn = at_once and not set(states) & set(Reply.OPEN)
    turn: dict[str, Any] = {"state": Reply.State.THINKING, "started_at": now, "template": TEMPLATE}
    return Reply.objects.create(
        companion=companion,
        message=message,
        continues=continues,
        text=continues.text if continues else "",
        emotions=continues.emotions if continues else [],
        created_at=max(now, newest[0][1] + timedelta(microseconds=1)) if newest else now,
        lease_by=process_name(),
        lease_at=now,
        **(turn if has_turn else {}),
    )
