"""Undoing an import: deletes its messages with all that was drawn from them, in batches. Resumes after a crash."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F

from companions.deletion import MAX_AT_ONCE, delete_messages
from companions.models import Branch, Closing, Conversation, Job, Message, PastImport, Session
from companions.models.companion import lock
from database.deletions import note_deletions
from database.journal import replaying
from jobs.background import enqueue
from jobs.lease import Clock, Lease, note_failures, retry_at
from memory.models import Learning

log = structlog.get_logger(__name__)

LEASE_TIME = timedelta(minutes=10)  # longer than one batch may take
UNDO_TASK = "companions.tasks.undo_past"


@transaction.atomic
def begin_undo(past: PastImport, now: datetime) -> Job:
    """Have the import undone, and return its job. The import stops, and nothing more is learnt from it.

    It does not wait for the companion: a batch that is being saved may hold it for a minute on a slow machine.
    """
    row = PastImport.objects.filter(pk=past.pk)
    row.exclude(state=PastImport.State.UNDOING).update(
        state=PastImport.State.UNDOING,
        learning=PastImport.Learning.NONE,
        look_at=None,
        attempts=0,
        error="",
    )
    Job.objects.filter(pk=past.job_id).update(error="")
    enqueue(UNDO_TASK, str(past.pk))
    return past.job


def run(import_id: UUID, clock: Clock) -> None:
    """Go on with undoing the import if it is due; a failure is noted, and tried again later."""
    now = clock()
    row = PastImport.objects.filter(pk=import_id, state=PastImport.State.UNDOING)
    lease = Lease.take(row, "look_at", clock, LEASE_TIME)
    if lease is None:
        return
    with note_failures(lease, partial(_note_failure, lease)):
        past = lease.held_row.get()
        _stop(past)
        while lease.renew():
            said = Message.everywhere.filter(job=past.job_id).order_by("session", "said_at", "id")
            ids = list(said.values_list("pk", flat=True)[:MAX_AT_ONCE])
            if not ids:
                _finish(past)
                return
            _delete(past, ids, now)


@transaction.atomic
def _stop(past: PastImport) -> None:
    """Wait for a batch that is being saved, and delete what is under way: closings that learn from the import, and the
    branches that end with a message of it, except the chosen one.
    """
    lock(past.companion_id)
    Closing.objects.filter(past=past).delete()
    chosen = Conversation.objects.filter(companion=past.companion_id).values("branch")
    ends = Branch.objects.filter(companion=past.companion_id, head__job=past.job_id)
    ends.exclude(pk__in=chosen.filter(branch__isnull=False)).delete()


@transaction.atomic
def _delete(past: PastImport, ids: Sequence[UUID], now: datetime) -> None:
    """Delete these messages with what was drawn from them, and ended sessions that are empty then."""
    sessions = set(Message.everywhere.filter(pk__in=ids).values_list("session", flat=True))
    delete_messages(past.companion_id, ids, now, keeps_other_branches=True)
    empty = Session.everywhere.filter(pk__in=sessions, messages=None, ended_at__isnull=False)
    gone = list(empty.values_list("pk", flat=True))
    with replaying():  # they belong to no branch
        Learning.objects.filter(companion=past.companion_id, session__in=gone).delete()
        Session.everywhere.filter(pk__in=gone).delete()


@transaction.atomic
def _finish(past: PastImport) -> None:
    """Delete the import, and its file if it still has one."""
    lock(past.companion_id)
    if past.file:
        past.file.delete()
    PastImport.objects.filter(pk=past.pk).delete()
    note_deletions("past", [past.pk])


def _note_failure(lease: Lease, code: str) -> None:
    """Count the failed try and schedule the next one, in at most six hours; an undo is never given up."""
    lease.held_row.update(attempts=F("attempts") + 1, error=code)
    past = lease.held_row.first()
    if past:
        lease.release(retry_at(past.attempts, lease.clock()))
        log.error("past_not_undone", import_id=str(past.pk), companion_id=str(past.companion_id), code=code)
