"""Tasks of sessions: one for each kind of work, and a sweep that enqueues it for every due row. Each may run twice."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from companions.models import Closing, Session
from companions.sessions import closing, diary_rewrite, digests, requests
from jobs.slots import in_model_slot
from memory.models import DiaryEntry


@shared_task
@in_model_slot(Closing.objects.values_list("companion__user", flat=True))
def close_session(closing_id: str) -> None:
    """Carry on one closing, if it is due."""
    closing.run(UUID(closing_id), timezone.now)


@shared_task
def close_waiting() -> None:
    """Request the closing of silent sessions, and enqueue every closing that is due."""
    now = timezone.now()
    requests.close_silent(now)
    for closing_id in closing.find_due(now):
        close_session.delay(str(closing_id))


@shared_task
@in_model_slot(Session.objects.values_list("companion__user", flat=True))
def digest_session(session_id: str) -> None:
    """Learn from one batch of an open session, if one is due."""
    digests.run(UUID(session_id), timezone.now)


@shared_task
def digest_waiting() -> None:
    """Enqueue the digest of every session with a batch that is due."""
    for session_id in digests.find_due(timezone.now()):
        digest_session.delay(str(session_id))


@shared_task
@in_model_slot(DiaryEntry.objects.values_list("companion__user", flat=True))
def rewrite_diary(entry_id: str) -> None:
    """Rewrite one diary entry of which something was deleted, if it is due."""
    diary_rewrite.run(UUID(entry_id), timezone.now)


@shared_task
def rewrite_stale_diary() -> None:
    """Enqueue the rewriting of every stale diary entry that is due."""
    for entry_id in diary_rewrite.find_due(timezone.now()):
        rewrite_diary.delay(str(entry_id))
