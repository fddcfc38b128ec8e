"""Contents and their rows: a content is stored before its row and removed after it, so no row is without a content."""

import hashlib
import secrets
from contextlib import closing
from datetime import datetime, timedelta
from itertools import product
from typing import Any, BinaryIO

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Min, Model, Sum
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from files.errors import ContentError, FilesError, NoRoomError
from files.models import StoredFile
from files.pictures import Drawn
from files.storage import Part, private

log = structlog.get_logger(__name__)
YOUNG_AGE = timedelta(hours=1)  # a younger content without a row is not swept: its row may still come
PIECE_BYTES = 256_000
DIGITS = "0123456789abcdef"


def store_content(
    user: User,
    content: bytes,
    kind: StoredFile.Kind,
    content_type: str,
    now: datetime,
    *,
    companion: Model | None = None,
    seconds: float | None = None,
    width: int | None = None,
    height: int | None = None,
) -> StoredFile:
    """Store the content and return its row. Do not call it in a transaction, since it talks to the storage.

    Raise NoRoomError if the person's quota is used up, StorageAwayError if the storage fails, ContentError if `content`
    is empty; in each case neither row nor content remains.
    """
    if not content:
        raise ContentError("empty", _("There is nothing in it."))
    require_room(user, len(content))
    file = StoredFile(
        user=user,
        companion_id=companion.pk if companion else None,
        kind=kind,
        key=name_content(kind),
        content_type=content_type,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        seconds=seconds,
        width=width,
        height=height,
        created_at=now,
    )
    private().put(file.key, content, content_type)
    try:
        with transaction.atomic():
            # One upload of a user at a time: two at once would each find the last room free.
            User.objects.select_for_update(no_key=True, of=("self",)).get(pk=user.pk)
            require_room(user, file.bytes)
            file.save(force_insert=True)
    except Exception:  # any error is raised again after the content is removed
        remove_contents([file.key])
        raise
    return file


def store_picture(
    user: User, drawn: Drawn, kind: StoredFile.Kind, now: datetime, *, companion: Model | None = None
) -> StoredFile:
    """Store a re-encoded picture, as `store_content` does."""
    of: dict[str, Any] = {"companion": companion, "width": drawn.width, "height": drawn.height}
    return store_content(user, drawn.content, kind, "image/webp", now, **of)


def copy_picture(user: User, file: StoredFile, kind: StoredFile.Kind, now: datetime) -> StoredFile:
    """Store a copy of the file's picture, as `store_content` does. Raise FilesError also if it cannot be read."""
    of: dict[str, Any] = {"width": file.width, "height": file.height}
    return store_content(user, read_content(file), kind, file.content_type, now, **of)


def store_file(
    user: User, content: BinaryIO, kind: StoredFile.Kind, content_type: str, now: datetime
) -> StoredFile:
    """Store a content that may be too large for memory, piece by piece, and return its row. The quota is not checked.

    Raise ContentError if it is empty, StorageAwayError if the storage fails; then neither row nor content remains.
    """
    digest, size = hashlib.sha256(), 0
    while piece := content.read(PIECE_BYTES):
        digest.update(piece)
        size += len(piece)
    if not size:
        raise ContentError("empty", _("There is nothing in it."))
    content.seek(0)
    file = StoredFile(
        user=user,
        kind=kind,
        key=name_content(kind),
        content_type=content_type,
        bytes=size,
        sha256=digest.hexdigest(),
        created_at=now,
    )
    private().put_file(file.key, content, content_type)
    try:
        file.save(force_insert=True)
    except Exception:
        remove_contents([file.key])
        raise
    return file


def name_content(kind: str) -> str:
    """Return a new, unguessable key for the storage."""
    name = secrets.token_urlsafe(32)
    return f"{kind}/{hashlib.sha256(name.encode()).hexdigest()[:2]}/{name}"


def put_content(kind: str, content: bytes, content_type: str) -> str:
    """Store the content and return its key, for which the caller must save a row; otherwise the content is swept.

    For bulk creation: the quota is not checked. Raise StorageAwayError if the storage fails.
    """
    key = name_content(kind)
    private().put(key, content, content_type)
    return key


def open_content(file: StoredFile, start: int = 0, end: int | None = None) -> Part:
    """Return the file's content from `start` up to `end` (exclusive) as a stream, which the caller must close.

    Raise ContentLostError if it is missing or its size differs from the row's; StorageAwayError if the storage fails.
    """
    return private().part(file.key, start, file.bytes if end is None else end, of=file.bytes)


def read_content(file: StoredFile) -> bytes:
    """Return the file's whole content. Raise the errors of `open_content`."""
    with closing(open_content(file)) as part:
        return part.read()


def used_bytes(user: User) -> int:
    """Return how many bytes the person's files take, except archives, which are kept only for hours."""
    mine = StoredFile.objects.owned_by(user).exclude(kind=StoredFile.Kind.ARCHIVE)
    return mine.aggregate(all=Sum("bytes"))["all"] or 0


def require_room(user: User, more: int) -> None:
    """Raise NoRoomError if the person's files would exceed the quota with `more` bytes added."""
    if used_bytes(user) + more > settings.FILES_BYTES_EACH:
        most = settings.FILES_BYTES_EACH // 1_000_000
        words = _(
            "Your files would take up more than the %(most)s MB that each person has. Delete some first."
        )
        raise NoRoomError("no_room", words % {"most": most})


# -- a content is removed with its row --------------------------------------------------------------


class ContentRemoval:
    """Removes several contents in one call on commit: a deleted companion may have thousands."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self) -> None:
        remove_contents(self.keys)


@receiver(post_delete, sender=StoredFile)
def remove_content_on_commit(instance: StoredFile, using: str, **_more: Any) -> None:
    """Remove the row's content when the transaction commits, together with those of rows deleted right before it."""
    connection = transaction.get_connection(using)
    if connection.run_on_commit:
        savepoints, last = connection.run_on_commit[-1][:2]
        # Only within the same savepoint: rolling it back discards its callbacks.
        if isinstance(last, ContentRemoval) and savepoints == set(connection.savepoint_ids):
            last.keys.append(instance.key)
            return
    removal = ContentRemoval()
    removal.keys.append(instance.key)
    transaction.on_commit(removal, using=using, robust=True)


def remove_contents(keys: list[str]) -> None:
    """Remove the contents; if the storage fails they stay until they are swept."""
    try:
        private().remove(keys)
    except FilesError as error:
        log.error("contents_left_for_sweep", count=len(keys), code=error.code)


# -- cleaning up after a crash, a lost connection or a restored backup ------------------------------


def sweep(now: datetime) -> tuple[int, int]:
    """Remove contents without a row, and mark rows without a content; return how many there were of each.

    Works by kind and first digit of the folder, so that neither list is whole in memory. Raise StorageAwayError.
    Contents older than the database are not removed: otherwise a new database with an old storage, or one whose backup
    is still to be restored, would remove everything.
    """
    removed = missing = older = 0
    # The first migration's time, which a restored backup brings along from the original database.
    began_at = MigrationRecorder(connection).migration_qs.aggregate(first=Min("applied"))["first"]
    for kind, digit in product(StoredFile.Kind.values, DIGITS):
        rows = StoredFile.objects.filter(key__startswith=f"{kind}/{digit}")
        before = set(rows.values_list("key", flat=True))
        listed = {content.key: content.stored_at for content in private().contents(kind, digit)}
        if not before and not listed:
            continue
        named = before | set(rows.values_list("key", flat=True))  # with rows saved since the listing began
        unnamed = {key: at for key, at in listed.items() if key not in named and at < now - YOUNG_AGE}
        ours = [key for key, at in unnamed.items() if at >= began_at]
        if ours:
            private().remove(ours)
            log.info("contents_swept", count=len(ours))
        removed, older = removed + len(ours), older + len(unnamed) - len(ours)
        if lost := before - set(listed):
            without = rows.filter(key__in=lost)  # rows that were not deleted meanwhile
            if new := without.filter(missed_at=None).update(missed_at=now):
                log.error("files_without_content", count=new)
            missing += without.count()
        # A missing content may be there again, e.g. after a backup was restored.
        back = [file.pk for file in rows.filter(missed_at__isnull=False) if file.key in listed]
        StoredFile.objects.filter(pk__in=back).update(missed_at=None)
    if older:
        log.error("contents_older_than_database", count=older)
    return removed, missing
