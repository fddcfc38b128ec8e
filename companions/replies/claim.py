"""Whose turn it is: one companion answers one message at a time, in order."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from companions.models import Reply
from companions.prompts import TEMPLATE
from companions.replies.material import Turn
from companions.replies.process import process_name

# In SQL, for each turn waits for it: to put it together from querysets takes four times as long as to run it.
CLAIM = """
UPDATE companions_reply reply
SET state = 'thinking', lease_by = %(process)s, lease_at = %(now)s, started_at = %(now)s, template = %(template)s
WHERE id = %(id)s AND state = 'queued' AND NOT EXISTS (
    SELECT FROM companions_reply other
    WHERE other.companion_id = reply.companion_id AND (
        other.state IN ('thinking', 'streaming')
        OR other.state = 'queued' AND other.created_at < reply.created_at))
"""


def claim(reply_id: UUID, now: datetime) -> Turn | None:
    """The turn as it begins; None where the reply is gone or not this process's to make now.

    It is, where it waits, none of its companion is under way, and none waits before it.
    """
    try:
        with transaction.atomic():
            return load(reply_id) if _is_claimed(reply_id, now) else None
    except IntegrityError:  # another process was quicker; the constraint reply_one_at_a_time holds
        return None


def give_back(turn: Turn) -> None:
    """Let another process have the turn, in which nothing has been said yet."""
    mine = Reply.objects.filter(pk=turn.reply.pk, state=Reply.State.THINKING, lease_by=process_name())
    mine.update(state=Reply.State.QUEUED, started_at=None, lease_at=None)


def _is_claimed(reply_id: UUID, now: datetime) -> bool:
    named: dict[str, Any] = {"id": reply_id, "now": now, "process": process_name(), "template": TEMPLATE}
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, named)
        return bool(cursor.rowcount)


def load(reply_id: UUID) -> Turn | None:
    """The reply with what it is made from; None where it has been deleted."""
    related = ("companion__user", "companion__conversation", "message")
    reply = Reply.objects.select_related(*related).filter(pk=reply_id).first()
    return Turn(reply, reply.companion, reply.message) if reply else None


def next_waiting(companion_id: UUID) -> UUID | None:
    """The reply of this companion whose turn is next."""
    waiting = Reply.objects.waiting().filter(companion_id=companion_id)
    return waiting.order_by("created_at").values_list("pk", flat=True).first()
