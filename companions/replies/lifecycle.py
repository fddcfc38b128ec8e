"""A reply's states in the database: queued with its message, and claimed by one process at a time."""

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
from accounts.limits.usage import admit
from companions.conversations.messages import check_quoted, check_text, open_session, say
from companions.errors import ConflictError, LostOwnershipError, TextError
from companions.events import notify_of_notice
from companions.minds.choice import get_current_provider
from companions.models import Companion, Conversation, Message, Reply
from companions.models.companion import hold, lock
from companions.prompting.turn_prompt import TEMPLATE
from safety.crisis import note_crisis

log = structlog.get_logger(__name__)
RETRY_AFTER_SECONDS = 10


@cache
def _make_nonce(_pid: int) -> str:
    return secrets.token_hex(4)


def process_name() -> str:
    """Return the name under which this process leases replies: unique, even if its process id is used again."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{_make_nonce(os.getpid())}"


@dataclass(frozen=True, slots=True)
class Started:
    """A saved message and its reply; `is_new` is False if the same message had been sent before."""

    message: Message
    reply: Reply
    is_new: bool

    @property
    def has_turn(self) -> bool:
        """Return whether the reply got its turn as the message was saved, so that this process must generate it."""
        return self.is_new and self.reply.state == Reply.State.THINKING


class Start(Protocol):
    """The signature of `start`, or of a function that does more in the same transaction."""

    def __call__(
        self, companion: Companion, text: str, client_id: str | None, now: datetime, /, *, at_once: bool
    ) -> Started: ...


@transaction.atomic
def start(
    companion: Companion,
    text: str,
    client_id: str | None,
    now: datetime,
    *,
    at_once: bool = False,
    quoted: UUID | None = None,
    is_in_call: bool = False,
) -> Started:
    """Save the message, which may quote another one of this branch, and a queued reply to it.

    With `at_once`, the reply gets its turn immediately if the companion has no other open one. With `is_in_call`, the
    message was said in a call, and the reply is made to be heard. For a `client_id` sent before, return the message
    saved then. Saves nothing if it raises TextError, QuoteError, ConflictError or GateError.
    """
    check_text(text)
    locked = hold(companion.pk)
    if locked is None:
        raise TextError("no_such_companion", _("You have no such companion."), 404)
    companion, conversation = locked, locked.conversation
    sent = Message.everywhere.filter(companion=companion, client_id=client_id)
    before = sent.first() if client_id else None
    if before:
        if before.text != text or before.role != Message.Role.USER or _quotes_another(before, quoted):
            raise ConflictError("client_id_taken", _("Another message has already been sent under this id."))
        reply = before.replies.order_by("-created_at").first()
        reply = reply or queue_reply(companion, before, before.said_at, is_in_call=is_in_call)
        return Started(before, reply, is_new=False)
    check_quoted(companion, quoted)
    admit_message(companion, now)
    message = Message(
        companion=companion,
        conversation=conversation,
        session=open_session(conversation, now),
        parent_id=conversation.head_id,
        quoted_id=quoted,
        role=Message.Role.USER,
        author=companion.user.name,
        text=text,
        client_id=client_id,
        said_at=now,
    )
    say(message, now)
    Conversation.objects.filter(pk=conversation.pk).update(head=message)
    conversation.head_id = message.pk
    reply = queue_reply(companion, message, now, at_once=at_once, is_in_call=is_in_call)
    if notice := note_crisis(companion.user, text, now):
        notify_of_notice(companion.user, notice)
    return Started(message, reply, is_new=True)


def _quotes_another(before: Message, quoted: UUID | None) -> bool:
    """Return whether `quoted` is a message, not deleted since, other than the one that `before` quotes."""
    if quoted in (None, before.quoted_id):
        return False
    return Message.everywhere.filter(companion=before.companion_id, pk=quoted).exists()


def admit_message(companion: Companion, now: datetime) -> None:
    """Raise GateError if the person sent too many messages to all companions in the last minute or has no tokens left.

    A companion that is answered by the person's own provider needs no tokens.
    """
    recent = Reply.objects.filter(
        companion__user=companion.user_id, created_at__gt=now - timedelta(minutes=1)
    )
    is_own = get_current_provider(companion).is_own
    admit(companion.user, recent_messages=recent.count(), now=now, is_own=is_own)


def queue_reply(
    companion: Companion,
    message: Message,
    now: datetime,
    continues: Reply | None = None,
    *,
    at_once: bool = False,
    is_in_call: bool = False,
) -> Reply:
    """Save a reply at the end of the companion's queue. With `at_once`, it gets its turn if no other one is open.

    Call it with the companion locked. Raise GateError if too many replies wait already.
    """
    others = Reply.objects.filter(companion=companion).order_by("-created_at")
    # The open replies are always among the newest.
    newest = list(others.values_list("state", "created_at")[: settings.REPLIES_WAITING])
    states = [state for state, _created_at in newest]
    if states.count(Reply.State.QUEUED) >= settings.REPLIES_WAITING:
        detail = _("%(name)s still has many messages to answer. Wait for an answer before you go on.")
        raise GateError("too_many_waiting", detail % {"name": companion.name}, RETRY_AFTER_SECONDS)
    has_turn = at_once and not set(states) & set(Reply.OPEN)
    turn: dict[str, Any] = {"state": Reply.State.THINKING, "started_at": now, "template": TEMPLATE}
    return Reply.objects.create(
        companion=companion,
        message=message,
        continues=continues,
        text=continues.text if continues else "",
        emotions=continues.emotions if continues else [],
        is_in_call=is_in_call,
        created_at=max(now, newest[0][1] + timedelta(microseconds=1)) if newest else now,
        lease_by=process_name(),
        lease_at=now,
        **(turn if has_turn else {}),
    )


def claim(reply_id: UUID, now: datetime) -> Reply | None:
    """Claim the reply for this process and return it; None if it is gone or its turn has not come.

    Its turn has come if it waits, no reply of its companion is under way, and none waits before it.
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
            related = ("companion__user", "companion__conversation", "companion__mind", "message")
            return Reply.objects.select_related(*related).get(pk=reply_id)
    except IntegrityError:  # another process was quicker; the constraint reply_one_at_a_time holds
        return None


def give_back(reply: Reply) -> None:
    """Requeue a claimed reply, of which nothing has been said yet, for any process to claim."""
    mine = Reply.objects.filter(pk=reply.pk, state=Reply.State.THINKING, lease_by=process_name())
    mine.update(state=Reply.State.QUEUED, started_at=None, lease_at=None)


def hold_reply(reply: Reply, **changed: Any) -> None:
    """Lock the reply's companion until the transaction ends, and save the `changed` fields of the reply, if any.

    Raise LostOwnershipError if this process lost the reply. All that is written for a reply is written under this lock,
    so that nothing deleted meanwhile is written back.
    """
    lock(reply.companion_id)
    mine = Reply.objects.under_way().filter(pk=reply.pk, lease_by=process_name())
    if not (mine.update(**changed) if changed else mine.exists()):
        raise LostOwnershipError


@transaction.atomic
def take_over(now: datetime) -> list[UUID]:
    """Lease to this process the replies under way whose lease has run out, and return their ids."""
    lost = Reply.objects.under_way().filter(lease_at__lt=now - timedelta(seconds=settings.LEASE_LOST_SECONDS))
    ids = list(lost.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Reply.objects.filter(pk__in=ids).update(lease_by=process_name(), lease_at=now)
    return ids


def find_startable(now: datetime, running: Iterable[UUID]) -> list[UUID]:
    """Return the waiting replies that this process may start, oldest first; renew its leases of waiting ones.

    These are its own, released ones, and those whose process is gone, of companions with no reply under way. A reply
    that got its turn as its message was saved, but is not among `running`, is requeued first: its task never began.
    """
    soon = timedelta(seconds=settings.LEASE_RENEWED_SECONDS)
    mine = Reply.objects.filter(state=Reply.State.THINKING, lease_by=process_name()).exclude(pk__in=running)
    # Their leases were never renewed nor taken over.
    not_begun = mine.filter(lease_at=F("started_at"), started_at__lt=now - soon)
    if given_up := not_begun.update(state=Reply.State.QUEUED, started_at=None):
        log.warning("turns_not_begun", count=given_up)
    Reply.objects.waiting().filter(lease_by=process_name()).update(lease_at=now)
    busy = Reply.objects.under_way().filter(companion=OuterRef("companion"))
    late = now - timedelta(seconds=settings.LEASE_LOST_SECONDS)
    is_free = Q(lease_by=process_name()) | Q(lease_at=None) | Q(lease_at__lt=late)
    waiting = Reply.objects.waiting().filter(~Exists(busy), is_free)
    return list(waiting.order_by("created_at").values_list("pk", flat=True))
