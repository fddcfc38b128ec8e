"""Celery's tasks of companions, except those of sessions and life, which have modules of their own."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from accounts.models import ModelCall
from companions.archives import uploads as archive_uploads
from companions.conversations.attachments import sweep_attachments
from companions.face.portraits import delete_unused_pictures
from companions.gallery import decisions
from companions.memories import consolidation
from companions.memories.forget_proposals import lapse
from companions.minds.comparison import comparison
from companions.models import ArchiveUpload, Companion, Comparison, PastImport, Prompt, Waking
from companions.pasts import imports, learning, undo
from companions.pasts import uploads as past_uploads
from companions.transfer.card_import import delete_unused_uploads
from jobs.background import enqueue
from jobs.slots import Slots, in_model_slot
from memory.consolidation import runs
from memory.documents import gists
from memory.models import Document, Recall
from memory.threads import drop_old

SKIPPED_KEPT = timedelta(days=90)
CALLS_A_RUN = 4  # per document: a task must end before the broker's visibility timeout
# For imports, undoing and restores, which may take many minutes: the worker's other threads stay free for everybody.
LONG = Slots[int | None](3)


def run_long(user_id: int | None, work: Callable[[], None]) -> None:
    """Do a user's long work if there is a slot for it; then enqueue the sweeps, if some work has found none."""
    with LONG.take(user_id, pass_on=_enqueue_sweeps) as is_free:
        if is_free:
            work()


def _enqueue_sweeps(_user_id: int | None) -> None:
    enqueue("companions.tasks.go_on_with_pasts")
    enqueue("companions.tasks.restore_waiting")


@shared_task
def drop_old_prompts() -> None:
    """Delete stored prompts, also those of wakings and of background work, and recalls by API after `PROMPTS_KEPT`, and
    skipped wakings after `SKIPPED_KEPT`.

    Wakings that started, or whose `drive_key` records an occasion, stay. Proposals to forget and threads that were left
    open too long end.
    """
    now = timezone.now()
    since = now - settings.PROMPTS_KEPT
    Prompt.objects.filter(created_at__lt=since).delete()
    ModelCall.objects.filter(started_at__lt=since, sent__isnull=False).forget_words()
    Recall.objects.filter(by=Recall.By.API, at__lt=since).delete()
    Waking.objects.filter(created_at__lt=since).exclude(prompt=[]).update(prompt=[])
    lapse(now)
    drop_old(now)
    nothing_came = Waking.objects.filter(state=Waking.State.SKIPPED, started_at=None, drive_key="")
    nothing_came.filter(created_at__lt=now - SKIPPED_KEPT).delete()


@shared_task
def sweep_unused() -> None:
    """Delete unused files: pictures that never became a portrait, part of the gallery or a sent attachment; uploads
    that nobody used; copies of reported characters without any report left.
    """
    now = timezone.now()
    delete_unused_pictures(now)
    sweep_attachments(now)
    delete_unused_uploads(now)
    decisions.delete_unreported_copies()
    past_uploads.delete_unused_uploads(now)
    archive_uploads.delete_old_uploads(now)


@shared_task
def restore_archive(upload_id: str) -> None:
    """Restore one uploaded archive, unless a long task of its user's is under way."""
    user_id = ArchiveUpload.objects.filter(pk=upload_id).values_list("user", flat=True).first()
    run_long(user_id, lambda: archive_uploads.run(UUID(upload_id), timezone.now))


@shared_task
def restore_waiting() -> None:
    """Enqueue the restores that wait or whose worker has died: the sweep."""
    for upload_id in archive_uploads.find_due(timezone.now()):
        restore_archive.delay(str(upload_id))


@shared_task
@in_model_slot(Document.objects.values_list("companion__user", flat=True))
def write_gists(document_id: str) -> None:
    """Write gists for one document's pages, and enqueue the rest if the calls of this run were not enough."""
    for _call in range(CALLS_A_RUN):
        if not gists.write_gists(UUID(document_id), timezone.now()):
            return
    write_gists.delay(document_id)


@shared_task
def write_waiting_gists() -> None:
    """Enqueue the documents that have pages without a gist: the sweep, for tasks that were lost."""
    for document_id in gists.find_due(timezone.now()):
        write_gists.delay(str(document_id))


@shared_task
@in_model_slot(Comparison.objects.values_list("companion__user", flat=True))
def compare_models(comparison_id: str) -> None:
    """Continue one comparison of models."""
    comparison.run(UUID(comparison_id), timezone.now)


@shared_task
def go_on_comparing() -> None:
    """Enqueue the comparisons of models that are due: the sweep."""
    for comparison_id in comparison.find_due(timezone.now()):
        compare_models.delay(str(comparison_id))


@shared_task
def begin_nights() -> None:
    """Request the consolidations whose night has come, and enqueue those that are due."""
    consolidation.request_due_nights(timezone.now())
    go_on_with_nights()


@shared_task
def go_on_with_nights() -> None:
    """Enqueue the consolidations that are due, such as those for which the model was busy: the sweep."""
    for companion_id, night_id in runs.find_due(timezone.now()):
        work_a_night.delay(str(companion_id), str(night_id))


@shared_task
@in_model_slot(Companion.objects.values_list("user", flat=True))
def work_a_night(companion_id: str, night_id: str) -> None:
    """Run one night's consolidation."""
    runs.consolidate(UUID(companion_id), UUID(night_id), timezone.now)


@shared_task
def import_past(import_id: str) -> None:
    """Continue one import of a past, unless a long task of its user's is under way."""
    run_long(_find_owner(import_id), lambda: imports.run(UUID(import_id), timezone.now))


@shared_task
def undo_past(import_id: str) -> None:
    """Continue undoing one import of a past, unless a long task of its user's is under way."""
    run_long(_find_owner(import_id), lambda: undo.run(UUID(import_id), timezone.now))


def _find_owner(import_id: str) -> int | None:
    return PastImport.objects.filter(pk=import_id).values_list("companion__user", flat=True).first()


@shared_task
def go_on_with_pasts() -> None:
    """Enqueue the imports and undoings that are due, and begin the learning from pasts that is due: the sweep."""
    now = timezone.now()
    for import_id in imports.find_due(PastImport.State.WAITING, now):
        import_past.delay(str(import_id))
    for import_id in imports.find_due(PastImport.State.UNDOING, now):
        undo_past.delay(str(import_id))
    learning.begin_due(now)
