"""One closing, step by step: claimed, drafted by the model, written in one transaction. Killed anywhere, it goes on."""

from datetime import datetime
from uuid import UUID

import structlog
from django.db.models import F

from companions.models import Closing, Job
from companions.sessions import digests
from companions.sessions.drafting import draft, gather
from companions.sessions.ending import end, keep_draft
from companions.sessions.stretch import is_being_answered, size
from companions.sessions.trying import LEASE, MOST_ATTEMPTS, SOON, Step, again_at, nothing
from providers.errors import ProviderError

log = structlog.get_logger(__name__)

BATCH = 200
MOST_DRAFTS = 3  # in one run: whoever deletes meanwhile need not be outrun


def due(now: datetime, most: int = BATCH) -> list[UUID]:
    """The closings that anybody may go on with now."""
    waiting = Closing.objects.open().filter(next_at__lte=now).order_by("next_at")
    return list(waiting.values_list("pk", flat=True)[:most])


def run(closing_id: UUID, now: datetime, step: Step = nothing) -> None:
    """Go on with the closing if it is due. What goes wrong is written down, and it is tried again later."""
    closing = _claimed(closing_id, now)
    if closing is None:
        return
    step("claimed")
    try:
        is_done = _go_on(closing, now, step)
    except ProviderError as error:
        _note_failure(closing_id, error.code, now)
    except Exception:
        _note_failure(closing_id, "internal_error", now)
        raise
    else:
        if not is_done:
            Closing.objects.open().filter(pk=closing_id).update(next_at=now + SOON)


def _claimed(closing_id: UUID, now: datetime) -> Closing | None:
    """The closing, which nobody else goes on with for a while; None where it is not due, done or gone."""
    mine = Closing.objects.open().filter(pk=closing_id, next_at__lte=now)
    if not mine.update(next_at=now + LEASE, error=""):
        return None
    return _as_it_stands(closing_id)


def _go_on(closing: Closing, now: datetime, step: Step) -> bool:
    """Whether it is done; False where an answer is awaited, or people changed what was said again and again."""
    for _try in range(MOST_DRAFTS):
        if end(closing.pk, now, step):
            step("ended")
            return True
        fresh = _as_it_stands(closing.pk)
        if fresh is None or is_being_answered(fresh.session, fresh.until_at):
            return False
        _draft(fresh, now, step)
    return end(closing.pk, now, step)


def _draft(closing: Closing, now: datetime, step: Step) -> None:
    """Ask the model, after batches where more is not learnt yet than it could read at once; keep the draft."""
    material = gather(closing)
    step("gathered")
    while size(material.unlearnt) > material.room:
        if not digests.learn_batch(closing.session, now, step, closing.until_at):
            return
        closing.session.refresh_from_db(fields=["summary", "summarised_until"])
        material = gather(closing)
    made = draft(material, now)
    step("asked")
    keep_draft(closing.pk, made, material)
    step("drafted")


def _as_it_stands(closing_id: UUID) -> Closing | None:
    related = Closing.objects.open().select_related(
        "session__companion__user", "companion__user", "companion__conversation"
    )
    return related.filter(pk=closing_id).first()


def _note_failure(closing_id: UUID, code: str, now: datetime) -> None:
    """Count the try; after the last one the operator is told, and the session stays open until it is asked anew."""
    mine = Closing.objects.open().filter(pk=closing_id)
    mine.update(attempts=F("attempts") + 1, error=code, drafts={}, seen=[])
    closing = mine.first()
    if closing is None:
        return
    if closing.attempts < MOST_ATTEMPTS:
        mine.update(next_at=again_at(closing.attempts, now))
        return
    mine.update(state=Closing.State.FAILED, ended_at=now)
    Job.objects.filter(closing=closing).update(error=code)
    log.error(
        "session_not_closed", closing_id=str(closing_id), companion_id=str(closing.companion_id), code=code
    )
