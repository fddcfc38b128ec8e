"""Tasks of sessions: requests for one piece of work, and the sweeps that find the work from rows. Each may run twice."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from companions.sessions import closing, diary_rewrite, digests, requests


@shared_task
def close_session(closing_id: str) -> None:
    """Go on with one closing."""
    closing.run(UUID(closing_id), timezone.now(), timezone.now)


@shared_task
def close_waiting() -> None:
    """Ask for the closing of silent sessions, and go on with every closing that is due: the sweep."""
    now = timezone.now()
    requests.close_silent(now)
    for closing_id in closing.find_due(now):
        close_session.delay(str(closing_id))


@shared_task
def digest_session(session_id: str) -> None:
    """Learn from a batch of one open session."""
    digests.run(UUID(session_id), timezone.now(), timezone.now)


@shared_task
def digest_waiting() -> None:
    """Learn from whatever batch is due: the sweep."""
    for session_id in digests.find_due(timezone.now()):
        digest_session.delay(str(session_id))


@shared_task
def rewrite_diary(entry_id: str) -> None:
    """Write one diary entry anew, of which something was deleted."""
    diary_rewrite.run(UUID(entry_id), timezone.now(), timezone.now)


@shared_task
def rewrite_stale_diary() -> None:
    """Write anew whatever diary entry is due: the sweep."""
    for entry_id in diary_rewrite.find_due(timezone.now()):
        rewrite_diary.delay(str(entry_id))
