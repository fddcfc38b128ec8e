"""The queue of a companion's replies: a message is saved with its reply, and one process at a time makes one of them."""

import os
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Protocol
from uuid import UUID

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils.translation import gettext as _

from accounts.errors import GateError
from accounts.usage import admit
from companions.access import hold, lock
from companions.conversations.messages import check_text, open_session, say
from companions.errors import ConflictError, LostOwnershipError, TextError
from companions.models import Companion, Conversation, Message, Reply
from companions.prompting.turn_prompt import TEMPLATE

log = structlog.get_logger(__name__)
RETRY_AFTER_SECONDS = 10


@cache
def _make_nonce(_pid: int) -> str:
    return secrets.token_hex(4)


def process_name() -> str:
    """Return the name under which this process holds replies: never the same twice, even where a process id is."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{_make_nonce(os.getpid())}"


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
    locked = hold(companion.pk)
    if locked is None:
        raise TextError("no_such_companion", _("There is no such companion of yours."))
    companion, conversation = locked, locked.conversation
    before = Message.objects.filter(companion=companion, client_id=client_id).first() if client_id else None
    if before:
        if before.text != text or before.role != Message.Role.USER:
            raise ConflictError("client_id_taken", _("Another message was sent under this id."))
        reply = before.replies.order_by("-created_at").first()
        return Started(before, reply or queue_reply(companion, before, before.said_at), is_new=False)
    admit_message(companion, now)
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
    reply = queue_reply(companion, message, now, at_once=at_once)
    Conversation.objects.filter(pk=conversation.pk).update(head=message)
    conversation.head_id = message.pk
    return Started(message, reply, is_new=True)


def admit_message(companion: Companion, now: datetime) -> None:
    """Raise GateError where the person asked too much of all companions within the last minute, or has no tokens left."""
    recent = Reply.objects.filter(
        companion__user=companion.user_id, created_at__gt=now - timedelta(minutes=1)
    )
    admit(companion.user, recent_messages=recent.count(), now=now)


def queue_reply(
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


def claim(reply_id: UUID, now: datetime) -> Reply | None:
    """Take the reply's turn; None where the reply is gone or not this process's to make now.

    It is, where it waits, none of its companion is under way, and none waits before it.
    """
    others = Reply.objects.filter(companion=OuterRef("companion"))
    before = others.filter(
        Q(state__in=Reply.UNDER_WAY) | Q(state=Reply.State.QUEUED, created_at__lt=OuterRef("created_at"))
    )
    free = Reply.objects.waiting().filter(~Exists(before), pk=reply_id)
    taken = {"state": Reply.State.THINKING, "lease_by": process_name(), "lease_at": now, "started_at": now}
    try:
        with transaction.atomic():
            if not free.update(**taken, template=TEMPLATE):
                return None
            related = ("companion__user", "companion__conversation", "message")
            return Reply.objects.select_related(*related).get(pk=reply_id)
    except IntegrityError:  # another process was quicker; the constraint reply_one_at_a_time holds
        return None


def give_back(reply: Reply) -> None:
    """Let another process have the turn, in which nothing has been said yet."""
    mine = Reply.objects.filter(pk=reply.pk, state=Reply.State.THINKING, lease_by=process_name())
    mine.update(state=Reply.State.QUEUED, started_at=None, lease_at=None)


def hold_reply(reply: Reply) -> None:
    """Lock the companion until the transaction ends; LostOwnershipError where the reply is no longer this process's.

    What is written for a reply is written under this lock, so that nothing deleted comes back through it.
    """
    lock(reply.companion_id)
    mine = Reply.objects.under_way().filter(pk=reply.pk, lease_by=process_name())
    if not mine.exists():
        raise LostOwnershipError


@transaction.atomic
def take_over(now: datetime) -> list[UUID]:
    """Take the replies under way whose process has been silent for too long; they are this process's now."""
    lost = Reply.objects.under_way().filter(lease_at__lt=now - timedelta(seconds=settings.LEASE_LOST_SECONDS))
    ids = list(lost.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Reply.objects.filter(pk__in=ids).update(lease_by=process_name(), lease_at=now)
    return ids


def find_startable(now: datetime, running: Iterable[UUID]) -> list[UUID]:
    """Return waiting replies whose turn has come and whose own process did not start them; renew this process's leases.

    What had its turn as its message was saved, and is not among those `running`, waits again: whoever sent it was gone
    before the making began.
    """
    soon = timedelta(seconds=settings.LEASE_RENEWED_SECONDS)
    mine = Reply.objects.filter(state=Reply.State.THINKING, lease_by=process_name()).exclude(pk__in=running)
    not_begun = mine.filter(
        lease_at=F("started_at"), started_at__lt=now - soon
    )  # neither renewed nor taken over
    if given_up := not_begun.update(state=Reply.State.QUEUED, started_at=None):
        log.warning("turns_not_begun", count=given_up)
    Reply.objects.waiting().filter(lease_by=process_name()).update(lease_at=now)
    busy = Reply.objects.under_way().filter(companion=OuterRef("companion"))
    late = now - timedelta(seconds=settings.LEASE_LOST_SECONDS)
    nobodys = Q(lease_by=process_name()) | Q(lease_at=None) | Q(lease_at__lt=late)
    waiting = Reply.objects.waiting().filter(~Exists(busy), nobodys)
    return list(waiting.order_by("created_at").values_list("pk", flat=True))
