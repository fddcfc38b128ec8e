"""Whose turn it is: one companion answers one message at a time, in order."""

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from companions.locking import hold
from companions.models import Reply
from companions.replies.process import process_name


def claim(reply_id: UUID, now: datetime) -> bool:
    """Whether this process may make the reply now: it waits, none is under way, and none waits before it."""
    siblings = Reply.objects.filter(companion=OuterRef("companion"))
    free = Reply.objects.waiting().filter(
        ~Exists(siblings.under_way()),
        ~Exists(siblings.waiting().filter(created_at__lt=OuterRef("created_at"))),
    )
    try:
        with transaction.atomic():
            return bool(
                free.filter(pk=reply_id).update(
                    state=Reply.State.THINKING, lease_by=process_name(), lease_at=now, started_at=now
                )
            )
    except IntegrityError:  # another process was quicker; the constraint reply_one_at_a_time holds
        return False


class TurnOverError(Exception):
    """The reply is not this process's to make any more: it was ended, or deleted."""


def hold_claimed(reply: Reply) -> None:
    """Keep what is said to the companion, and deleted, as it is until the transaction ends; TurnOverError.

    What is written for a reply is written under this, so that nothing deleted comes back through it.
    """
    hold(reply.companion_id)
    if not Reply.objects.filter(pk=reply.pk, lease_by=process_name()).under_way().exists():
        raise TurnOverError


def next_waiting(companion_id: UUID) -> UUID | None:
    """The reply of this companion whose turn is next."""
    waiting = Reply.objects.waiting().filter(companion_id=companion_id)
    return waiting.order_by("created_at").values_list("pk", flat=True).first()
