"""Whose turn it is, and which process makes a reply: one companion answers one message at a time, in order."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q

from companions.locks import lock
from companions.models import Reply
from companions.prompting.turn_prompt import TEMPLATE
from jobs.process import process_name

log = structlog.get_logger(__name__)


class LostOwnershipError(Exception):
    """The reply is not this process's to make any more: it was ended, or deleted."""


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


def hold_claimed(reply: Reply) -> None:
    """Keep what is said to the companion, and deleted, as it is until the transaction ends; LostOwnershipError.

    What is written for a reply is written under this, so that nothing deleted comes back through it.
    """
    lock(reply.companion_id)
    mine = Reply.objects.under_way().filter(pk=reply.pk, lease_by=process_name())
    if not mine.exists():
        raise LostOwnershipError


def find_next_waiting(companion_id: UUID) -> UUID | None:
    """Return the reply of this companion whose turn is next."""
    waiting = Reply.objects.waiting().filter(companion_id=companion_id)
    return waiting.order_by("created_at").values_list("pk", flat=True).first()


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
