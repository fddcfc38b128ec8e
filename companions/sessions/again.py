"""Another try at a closing that has failed for good, for an operator."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from companions.locks import lock
from companions.models import Closing, Job
from companions.sessions.asking import nudge


@transaction.atomic
def try_again(closing_id: UUID, now: datetime) -> bool:
    """Whether it is tried again: not where its session has ended meanwhile, or another closing is at it."""
    failed = Closing.objects.filter(pk=closing_id, state=Closing.State.FAILED).first()
    if failed is None or not lock(failed.companion_id):
        return False
    others = Closing.objects.open().filter(session=failed.session_id)
    closing = Closing.objects.filter(
        pk=closing_id, state=Closing.State.FAILED, session__ended_at=None
    ).first()
    if closing is None or others.exists():
        return False
    closing.state, closing.error, closing.attempts = Closing.State.WAITING, "", 0
    closing.next_at, closing.ended_at = now, None
    closing.save(update_fields=["state", "error", "attempts", "next_at", "ended_at"])
    Job.objects.filter(closing=closing).update(error="")
    nudge(closing)
    return True
