from datetime import timedelta
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from companions.archives import uploads as archive_uploads
from companions.conversations.attachments import sweep_attachments
from companions.face.portraits import delete_unused_pictures
from companions.gallery import decisions, submission
from companions.memories import consolidation
from companions.memories.forget_proposals import lapse
from companions.minds import comparison
from companions.models import Prompt, Waking
from companions.models.companion import lock
from companions.pasts import imports, learning, undo
from companions.pasts import uploads as past_uploads
from companions.transfer.card_import import delete_unused_uploads
from memory.consolidation import runs
from memory.documents import gists

SKIPPED_KEPT = timedelta(days=90)
CALLS_A_RUN = 4  # of one document; no task may take longer than the broker waits for it


@shared_task
def drop_old_prompts() -> None:
    """Drop the prompts as sent that are older than thirty days, and the wakings of which nothing came for three months.

    Those of a drive stay: by them their occasion is known. Proposals to forget that nobody touched lapse.
    """
    now = timezone.now()
    since = now - settings.PROMPTS_KEPT
    Prompt.objects.filter(created_at__lt=since).delete()
    Waking.objects.filter(created_at__lt=since).exclude(prompt=[]).update(prompt=[])
    lapse(now)
    nothing_came = Waking.objects.filter(state=Waking.State.SKIPPED, started_at=None, drive_key="")
    nothing_came.filter(created_at__lt=now - SKIPPED_KEPT).delete()


@shared_task
def sweep_unused() -> None:
    """Drop what came and is of no use: pictures that never stood for a face or in the gallery, or were never sent; files
    that were brought and came to nothing; copies of characters of which no report is left.
    """
    now = timezone.now()
    delete_unused_pictures(now)
    sweep_attachments(now)
    delete_unused_uploads(now)
    submission.delete_unused_pictures(now)
    decisions.delete_unreported_copies()
    past_uploads.delete_unused_uploads(now)
    archive_uploads.delete_old_uploads(now)


@shared_task
def restore_archive(upload_id: str) -> None:
    """Restore one archive."""
    archive_uploads.run(UUID(upload_id), timezone.now)


@shared_task
def restore_waiting() -> None:
    """Ask for the archives that wait, or whose worker has died: the sweep."""
    for upload_id in archive_uploads.find_due(timezone.now()):
        restore_archive.delay(str(upload_id))


@shared_task
def write_gists(document_id: str) -> None:
    """Write gists of one document, and ask for more of it where pages are left."""
    for _call in range(CALLS_A_RUN):
        if not gists.write_gists(UUID(document_id), timezone.now(), lock):
            return
    write_gists.delay(document_id)


@shared_task
def write_waiting_gists() -> None:
    """Ask for the gists of whatever has pages without one: the sweep, for nudges that were lost."""
    for document_id in gists.find_due(timezone.now()):
        write_gists.delay(str(document_id))


@shared_task
def compare_models(comparison_id: str) -> None:
    """Go on with one comparison of models."""
    comparison.run(UUID(comparison_id), timezone.now)


@shared_task
def go_on_comparing() -> None:
    """Go on with whichever comparison is due: the sweep."""
    for comparison_id in comparison.find_due(timezone.now()):
        compare_models.delay(str(comparison_id))


@shared_task
def begin_nights() -> None:
    """Ask for the nights that have come, and for the work of whichever is due: the sweep."""
    now = timezone.now()
    consolidation.request_due_nights(now)
    for companion_id, night_id in runs.find_due(now):
        work_a_night.delay(str(companion_id), str(night_id))


@shared_task
def work_a_night(companion_id: str, night_id: str) -> None:
    """Do the work of one night."""
    consolidation.run_night(UUID(companion_id), UUID(night_id), timezone.now(), timezone.now)


@shared_task
def import_past(import_id: str) -> None:
    """Go on with one import of a past."""
    imports.run(UUID(import_id), timezone.now(), timezone.now)


@shared_task
def undo_past(import_id: str) -> None:
    """Go on with undoing one import of a past."""
    undo.run(UUID(import_id), timezone.now(), timezone.now)


@shared_task
def go_on_with_pasts() -> None:
    """Go on with whichever import or undoing is due, and with learning from pasts at night: the sweep."""
    now = timezone.now()
    for import_id in imports.find_due(now):
        import_past.delay(str(import_id))
    for import_id in undo.find_due(now):
        undo_past.delay(str(import_id))
    learning.begin_due(now)
