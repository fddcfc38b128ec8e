"""Uploaded archives: kept as files while their user looks at one, and restored by a worker that may be killed anywhere.

One transaction inserts all rows and marks the upload as done, so that a second run finds either nothing or all of it.
"""

import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from threading import Event
from typing import BinaryIO, cast
from uuid import UUID

import structlog
from django.db import connection
from django.db.models import F, Q
from django.utils.translation import gettext as _

from accounts.errors import RefusedError
from accounts.models import User
from companions.archives.errors import ArchiveError
from companions.archives.manifest import Manifest, Preview, describe, read_manifest
from companions.archives.restore import Restored, restore
from companions.errors import LostOwnershipError
from companions.models import ArchiveUpload
from files.archives import Archive
from files.contents import open_content, store_file
from files.errors import BusyError, StorageAwayError
from files.models import StoredFile
from files.uploads import UNUSED_AFTER
from jobs.background import enqueue
from jobs.lease import RETRY_DELAY, Clock, Lease

log = structlog.get_logger(__name__)
TASK = "companions.tasks.restore_archive"
ENDED_AFTER = timedelta(days=7)
LEASE_TIME = timedelta(minutes=2)
TELL_SECONDS, BEAT_SECONDS = 1.0, 20.0
MAX_ATTEMPTS = 4
MAX_WAITING_EACH = 3
COPIED_BYTES = 1_000_000
State = ArchiveUpload.State


def keep_upload(user: User, content: BinaryIO, now: datetime, *, is_looked_at: bool = True) -> ArchiveUpload:
    """Store an archive; raise ArchiveError or FilesError.

    One that `is_looked_at`, in a preview, replaces an earlier one that the user did not restore.
    """
    manifest = read_manifest(Archive(content))
    if is_looked_at:
        for earlier in ArchiveUpload.objects.owned_by(user).filter(state=State.KEPT):
            drop_upload(earlier)
    content.seek(0)
    file = store_file(user, content, StoredFile.Kind.ARCHIVE, "application/zip", now)
    return ArchiveUpload.objects.create(
        user=user, file=file, manifest=manifest.model_dump(mode="json"), total=manifest.total, created_at=now
    )


def preview(upload: ArchiveUpload) -> Preview:
    """Return the preview of the uploaded archive, made from its manifest."""
    return describe(Manifest.model_validate(upload.manifest))


def begin(upload: ArchiveUpload, now: datetime) -> bool:
    """Enqueue the restore of the archive; return False if it was begun before.

    Raise ArchiveError if the user has too many waiting restores.
    """
    mine = ArchiveUpload.objects.owned_by(upload.user)
    if mine.filter(state=State.WAITING).exclude(pk=upload.pk).count() >= MAX_WAITING_EACH:
        raise ArchiveError(
            "too_many_restores",
            _("Other archives of yours are still being restored. Wait until one of them is done."),
        )
    is_new = bool(mine.filter(pk=upload.pk, state=State.KEPT).update(state=State.WAITING, look_at=now))
    if is_new:
        enqueue(TASK, str(upload.pk))
    return is_new


def drop_upload(upload: ArchiveUpload) -> None:
    """Delete the upload with its file; a companion that was restored from it stays."""
    if upload.file:
        upload.file.delete()
    upload.delete()


def drop_unused(upload_id: UUID) -> None:
    """Delete the upload with its file, unless its restore has begun."""
    for upload in ArchiveUpload.objects.filter(pk=upload_id, state=State.KEPT).select_related("file"):
        drop_upload(upload)


def find_due(now: datetime) -> list[UUID]:
    """Return the ids of the uploads that wait for a restore or whose worker has died: the sweep's work."""
    due = ArchiveUpload.objects.filter(Q(look_at=None) | Q(look_at__lte=now), state=State.WAITING)
    return list(due.values_list("pk", flat=True))


def run(upload_id: UUID, clock: Clock) -> None:
    """Restore the archive if it waits and no other worker holds its lease.

    A refusal is saved on the upload; after any other failure it is tried again, at most `MAX_ATTEMPTS` times in all.
    """
    rows = ArchiveUpload.objects.filter(pk=upload_id, state=State.WAITING)
    lease = Lease.take(rows, "look_at", clock, LEASE_TIME, attempts=F("attempts") + 1, done=0)
    upload = rows.select_related("user", "file").first()
    if lease is None or upload is None:
        return
    with upload.user.use_language():
        if upload.attempts > MAX_ATTEMPTS:
            _fail(lease, "internal_error", _("Something went wrong on this Kith. Tell whoever runs it."))
            return
        try:
            _restore(upload, lease)
        except (BusyError, StorageAwayError):
            lease.release(clock() + RETRY_DELAY)
        except LostOwnershipError:
            pass  # another worker has taken over
        except RefusedError as error:
            log.info("archive_refused", upload=str(upload_id), code=error.code)
            _fail(lease, error.code, str(error.detail))


def delete_old_uploads(now: datetime) -> int:
    """Delete uploads not restored within a day, and those whose restore ended a week ago; return how many.

    Stored archives without an upload are deleted after a day, too, but not counted.
    """
    kept = Q(state=State.KEPT, created_at__lt=now - UNUSED_AFTER)
    ended = Q(state__in=[State.DONE, State.FAILED], ended_at__lt=now - ENDED_AFTER)
    old = list(ArchiveUpload.objects.filter(kept | ended).select_related("file"))
    for upload in old:
        drop_upload(upload)
    orphans = StoredFile.objects.filter(kind=StoredFile.Kind.ARCHIVE, archive_upload=None)
    orphans.filter(created_at__lt=now - UNUSED_AFTER).delete()
    return len(old)


def _restore(upload: ArchiveUpload, lease: Lease) -> None:
    if upload.file is None:
        raise ArchiveError("file_lost", _("The file is no longer here. Send it again."))
    heartbeat = _Heartbeat(lease)
    with tempfile.TemporaryFile() as copy:  # reading a ZIP file needs seeking
        with closing(open_content(upload.file)) as part:
            shutil.copyfileobj(cast(BinaryIO, part), copy, COPIED_BYTES)

        def finish(restored: Restored) -> None:
            heartbeat.stop()
            fields = {"companion": restored.companion, "remarks": restored.remarks, "ended_at": lease.clock()}
            if not lease.held_row.update(state=State.DONE, done=F("total"), **fields):
                raise LostOwnershipError

        try:
            restore(upload.user, Archive(copy), lease.clock(), heartbeat.report, finish)
        finally:
            heartbeat.stop()
    upload.file.delete()


def _fail(lease: Lease, code: str, error: str) -> None:
    """Mark the upload as failed with the error and delete its file, unless another worker has taken over."""
    file = StoredFile.objects.filter(archive_upload__in=lease.held_row).first()
    if lease.held_row.update(state=State.FAILED, code=code, error=error, ended_at=lease.clock()) and file:
        file.delete()


class _Heartbeat:
    """Saves a restore's progress and renews its lease, in a thread whose connection is outside the transaction."""

    def __init__(self, lease: Lease) -> None:
        self._lease, self._done, self._ended = lease, 0, Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="restore")
        self._work = self._pool.submit(self._beat)

    def report(self, done: int) -> None:
        """Note that `done` rows are restored.

        Raise LostOwnershipError if another worker has taken over, or the error that has ended the thread.
        """
        self._done = done
        if self._work.done():
            self._work.result()
            raise LostOwnershipError

    def stop(self) -> None:
        """End the thread after its current write. A second call does nothing."""
        self._ended.set()
        self._pool.shutdown()

    def _beat(self) -> None:
        """Save the progress when it has changed, and every `BEAT_SECONDS` while one statement or file takes long."""
        saved, saved_at = 0, time.monotonic()
        while not self._ended.wait(TELL_SECONDS):
            if (done := self._done) != saved or time.monotonic() - saved_at > BEAT_SECONDS:
                try:
                    is_held = self._lease.renew(done=done)
                finally:
                    connection.close()
                if not is_held:
                    return
                saved, saved_at = done, time.monotonic()
