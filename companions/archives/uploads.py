"""Archives that come: kept as files while somebody looks at one, and restored by a worker that may be killed at any line.

Rows are made in one transaction that ends with the upload's own: whoever runs it again finds either nothing, or all.
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
from django.utils import translation
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


def keep_upload(user: User, content: BinaryIO, now: datetime) -> ArchiveUpload:
    """Keep the archive to be looked at, in place of one that the person did not restore. ArchiveError, FilesError."""
    manifest = read_manifest(Archive(content))
    for earlier in ArchiveUpload.objects.owned_by(user).filter(state=State.KEPT):
        drop_upload(earlier)
    content.seek(0)
    file = store_file(user, content, StoredFile.Kind.ARCHIVE, "application/zip", now)
    return ArchiveUpload.objects.create(
        user=user, file=file, manifest=manifest.model_dump(mode="json"), total=manifest.total, created_at=now
    )


def preview(upload: ArchiveUpload) -> Preview:
    """Return what is in it, by its own account."""
    return describe(Manifest.model_validate(upload.manifest))


def begin(upload: ArchiveUpload, now: datetime) -> bool:
    """Have the archive restored by a worker; return whether that is new. ArchiveError where others wait already."""
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
    """Drop it with its file; what became of it stays."""
    if upload.file:
        upload.file.delete()
    upload.delete()


def drop_unused(upload_id: UUID) -> None:
    """Drop it unless its restore has begun."""
    for upload in ArchiveUpload.objects.filter(pk=upload_id, state=State.KEPT).select_related("file"):
        drop_upload(upload)


def find_due(now: datetime) -> list[UUID]:
    """Return those that wait, or whose worker has died, for the task that looks for such."""
    due = ArchiveUpload.objects.filter(Q(look_at=None) | Q(look_at__lte=now), state=State.WAITING)
    return list(due.values_list("pk", flat=True))


def run(upload_id: UUID, clock: Clock) -> None:
    """Restore the archive, unless another is at it."""
    rows = ArchiveUpload.objects.filter(pk=upload_id, state=State.WAITING)
    lease = Lease.take(rows, "look_at", clock, LEASE_TIME, attempts=F("attempts") + 1, done=0)
    upload = rows.select_related("user", "file").first()
    if lease is None or upload is None:
        return
    with translation.override(upload.user.language or None):
        if upload.attempts > MAX_ATTEMPTS:
            return _fail(
                lease, "internal_error", _("Something went wrong on this Kith. Tell whoever runs it.")
            )
        try:
            _restore(upload, lease)
        except (BusyError, StorageAwayError):
            lease.release(clock() + RETRY_DELAY)
        except LostOwnershipError:
            return  # another is at it
        except RefusedError as error:
            log.info("archive_refused", upload=str(upload_id), code=error.code)
            _fail(lease, error.code, str(error.detail))
    return None


def delete_old_uploads(now: datetime) -> int:
    """Delete archives that nobody restored within a day, and a week later what tells of a restore; return how many."""
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
    with tempfile.TemporaryFile() as copy:  # to read an archive one goes back and forth in it
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
    """Write down why it is not restored; the file goes."""
    file = StoredFile.objects.filter(archive_upload__in=lease.held_row).first()
    if lease.held_row.update(state=State.FAILED, code=code, error=error, ended_at=lease.clock()) and file:
        file.delete()


class _Heartbeat:
    """Writes down how far a restore is, and that it lives, from a thread whose connection is outside the transaction."""

    def __init__(self, lease: Lease) -> None:
        self._lease, self._done, self._ended = lease, 0, Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="restore")
        self._work = self._pool.submit(self._beat)

    def report(self, done: int) -> None:
        """Note that so many rows are done; raise LostOwnershipError where another worker has taken over."""
        self._done = done
        if self._work.done():
            self._work.result()
            raise LostOwnershipError

    def stop(self) -> None:
        """End the thread, once what it writes is written; a second time nothing is done."""
        self._ended.set()
        self._pool.shutdown()

    def _beat(self) -> None:
        """Write it down where it has changed, and also where one statement or one file takes long."""
        told, told_at = 0, time.monotonic()
        while not self._ended.wait(TELL_SECONDS):
            if (done := self._done) != told or time.monotonic() - told_at > BEAT_SECONDS:
                try:
                    is_held = self._lease.renew(done=done)
                finally:
                    connection.close()
                if not is_held:
                    return
                told, told_at = done, time.monotonic()
