"""One closing, step by step: claimed, drafted by the model, written in one transaction. Killed anywhere, it goes on."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import structlog
from django.db.models import F

from accounts.usage import NO_TOKENS, waits_until
from companions.models import Closing, Job
from companions.sessions import digests
from companions.sessions.drafting import draft, gather
from companions.sessions.ending import end, keep_draft
from companions.sessions.stretch import is_being_answered, size
from jobs.lease import Clock, Lease, Step, nothing
from jobs.retry import MAX_ATTEMPTS, RETRY_DELAY, note_failures, retry_at

log = structlog.get_logger(__name__)

BATCH = 200
MOST_DRAFTS = 3  # in one run: whoever deletes meanwhile need not be outrun


def due(now: datetime, most: int = BATCH) -> list[UUID]:
    """The closings that anybody may go on with now."""
    waiting = Closing.objects.open().filter(next_at__lte=now).order_by("next_at")
    return list(waiting.values_list("pk", flat=True)[:most])


def run(closing_id: UUID, now: datetime, step: Step = nothing, clock: Clock | None = None) -> None:
    """Go on with the closing if it is due. What goes wrong is written down, and it is tried again later.

    `now` is the time of what is written; leases and waits count from what the clock says then, else from `now`.
    """
    row = Closing.objects.open().filter(pk=closing_id)
    lease = Lease.take(row, "next_at", clock or (lambda: now), error="")
    if lease is None:
        return
    step("claimed")
    with note_failures(partial(_note_failure, lease)):
        if later := _go_on(closing_id, lease, now, step):
            lease.release(later.at, error=later.error)


@dataclass(frozen=True, slots=True)
class Later:
    """When it is gone on with, and what it waits for if that has a name."""

    at: datetime
    error: str = ""


def _go_on(closing_id: UUID, lease: Lease, now: datetime, step: Step) -> Later | None:
    """When to go on: an answer or tokens are awaited, or people changed what was said again and again; None when done."""
    for _try in range(MOST_DRAFTS):
        if end(closing_id, now, step):
            step("ended")
            return None
        fresh = _as_it_stands(closing_id)
        if fresh is None or is_being_answered(fresh.session, fresh.until_at):
            return Later(lease.clock() + RETRY_DELAY)
        if later := _draft(fresh, lease, now, step):
            return later
    return None if end(closing_id, now, step) else Later(lease.clock() + RETRY_DELAY)


def _draft(closing: Closing, lease: Lease, now: datetime, step: Step) -> Later | None:
    """Ask the model, after batches where more is not learnt yet than it could read at once; keep the draft.

    When to go on where it may not be asked now, else None.
    """
    material = gather(closing)
    step("gathered")
    while size(material.unlearnt) > material.room:
        if later := _held_up(closing, lease):
            return later
        if not digests.learn_batch(closing.session, now, step, closing.until_at):
            return None
        closing.session.refresh_from_db(fields=["summary", "summarised_until"])
        material = gather(closing)
    if later := _held_up(closing, lease):
        return later
    made = draft(material, now)
    step("asked")
    keep_draft(closing.pk, made, material)
    step("drafted")
    return None


def _held_up(closing: Closing, lease: Lease) -> Later | None:
    """Why the model may not be asked now: another worker is at it, or the day's tokens are used up."""
    if not lease.renew():
        return Later(lease.clock())
    user, is_asked_for = closing.companion.user, closing.job_id is not None
    tomorrow = waits_until(user, lease.clock(), is_asked_for=is_asked_for)
    return Later(tomorrow, NO_TOKENS) if tomorrow else None


def _as_it_stands(closing_id: UUID) -> Closing | None:
    related = Closing.objects.open().select_related(
        "session__companion__user", "companion__user", "companion__conversation"
    )
    return related.filter(pk=closing_id).first()


def _note_failure(lease: Lease, code: str) -> None:
    """Count the try; after the last one the operator is told, and the session stays open until it is asked anew."""
    lease.held_row.update(attempts=F("attempts") + 1, error=code, drafts={}, seen=[])
    closing = lease.held_row.first()
    if closing is None:
        return
    if closing.attempts < MAX_ATTEMPTS:
        lease.release(retry_at(closing.attempts, lease.clock()))
        return
    Job.objects.filter(closing=closing).update(error=code)
    lease.held_row.update(state=Closing.State.FAILED, ended_at=lease.clock())
    log.error(
        "session_not_closed", closing_id=str(closing.pk), companion_id=str(closing.companion_id), code=code
    )
