"""Contents and their rows: the content comes before its row and goes after it, so that no row is without its content."""

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
YOUNG_AGE = timedelta(hours=1)  # a content comes before its row
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
    """Store the content and return its row; not for within a transaction, since it speaks with the storage.

    NoRoomError where the person's room is used up, StorageAwayError where the storage fails: then there is neither row
    nor content.
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
            # One at a time: two that fill the last room together would each find it free.
            User.objects.select_for_update(no_key=True, of=("self",)).get(pk=user.pk)
            require_room(user, file.bytes)
            file.save(force_insert=True)
    except Exception:  # whatever it was, it is told as it is once the content is gone
        remove_contents([file.key])
        raise
    return file


def store_picture(
    user: User, drawn: Drawn, kind: StoredFile.Kind, now: datetime, *, companion: Model | None = None
) -> StoredFile:
    """Store a picture that was drawn anew, as `store_content` does."""
    of: dict[str, Any] = {"companion": companion, "width": drawn.width, "height": drawn.height}
    return store_content(user, drawn.content, kind, "image/webp", now, **of)


def copy_picture(user: User, file: StoredFile, kind: StoredFile.Kind, now: datetime) -> StoredFile:
    """Store a copy of the file's picture, as `store_content` does; FilesError also where it cannot be read."""
    of: dict[str, Any] = {"width": file.width, "height": file.height}
    return store_content(user, read_content(file), kind, file.content_type, now, **of)


def store_file(
    user: User, content: BinaryIO, kind: StoredFile.Kind, content_type: str, now: datetime
) -> StoredFile:
    """Store what may be too large for memory, read piece by piece, and return its row; it counts no room.

    ContentError where nothing is in it, StorageAwayError: then there is neither row nor content.
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
    """Return a new name in the storage, which nobody can guess."""
    name = secrets.token_urlsafe(32)
    return f"{kind}/{hashlib.sha256(name.encode()).hexdigest()[:2]}/{name}"


def put_content(kind: str, content: bytes, content_type: str) -> str:
    """Put the content into the storage, and return its name there, which a row is to bear; else it is swept.

    For what comes with many rows at once: it counts no room. StorageAwayError.
    """
    key = name_content(kind)
    private().put(key, content, content_type)
    return key


def open_content(file: StoredFile, start: int = 0, end: int | None = None) -> Part:
    """Return its content from `start` up to, not with, `end`, as a stream that is to be closed.

    ContentLostError where it is not there or not of the size that was stored; StorageAwayError.
    """
    return private().part(file.key, start, file.bytes if end is None else end, of=file.bytes)


def read_content(file: StoredFile) -> bytes:
    """Return all of it; the errors of `open_content`."""
    with closing(open_content(file)) as part:
        return part.read()


def used_bytes(user: User) -> int:
    """Return what the person's files take, but for archives, which stay for hours."""
    mine = StoredFile.objects.owned_by(user).exclude(kind=StoredFile.Kind.ARCHIVE)
    return mine.aggregate(all=Sum("bytes"))["all"] or 0


def require_room(user: User, more: int) -> None:
    """Raise NoRoomError where the person's files would take too much with so many bytes more."""
    if used_bytes(user) + more > settings.FILES_BYTES_EACH:
        most = settings.FILES_BYTES_EACH // 1_000_000
        words = _("Your files would take more than the %(most)s MB there are for each. Delete some first.")
        raise NoRoomError("no_room", words % {"most": most})


# -- a row's content goes with it -------------------------------------------------------------------


class ContentRemoval:
    """Contents that go together: a deleted companion may have thousands, and one call can remove many."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self) -> None:
        remove_contents(self.keys)


@receiver(post_delete, sender=StoredFile)
def remove_content_on_commit(instance: StoredFile, using: str, **_more: Any) -> None:
    """Remove the content once the transaction is committed, with those of the rows deleted right before it."""
    connection = transaction.get_connection(using)
    if connection.run_on_commit:
        savepoints, last = connection.run_on_commit[-1][:2]
        # In this very savepoint: one that is rolled back forgets what it registered.
        if isinstance(last, ContentRemoval) and savepoints == set(connection.savepoint_ids):
            last.keys.append(instance.key)
            return
    removal = ContentRemoval()
    removal.keys.append(instance.key)
    transaction.on_commit(removal, using=using, robust=True)


def remove_contents(keys: list[str]) -> None:
    """Remove these contents; where the storage is away they stay until they are swept."""
    try:
        private().remove(keys)
    except FilesError as error:
        log.error("contents stay until they are swept", count=len(keys), code=error.code)


# -- what a crash, a lost line or a restored backup leaves ------------------------------------------


def sweep(now: datetime) -> tuple[int, int]:
    """Remove contents that no row names, and mark rows without their content; return how many there were of both.

    It goes share by share, so that neither list is ever whole in memory. StorageAwayError: the next one goes on.
    What is older than the database is not its own: a new one at an old folder, or one whose backup is yet to be played
    back, would else remove all that there is.
    """
    removed = missing = older = 0
    # A backup that is played back tells of the database that it was made of.
    began_at = MigrationRecorder(connection).migration_qs.aggregate(first=Min("applied"))["first"]
    for kind, digit in product(StoredFile.Kind.values, DIGITS):
        rows = StoredFile.objects.filter(key__startswith=f"{kind}/{digit}")
        before = set(rows.values_list("key", flat=True))
        listed = {content.key: content.stored_at for content in private().contents(kind, digit)}
        if not before and not listed:
            continue
        named = before | set(rows.values_list("key", flat=True))  # also those that came meanwhile
        unnamed = {key: at for key, at in listed.items() if key not in named and at < now - YOUNG_AGE}
        ours = [key for key, at in unnamed.items() if at >= began_at]
        if ours:
            private().remove(ours)
            log.info("contents without a row were removed", count=len(ours))
        removed, older = removed + len(ours), older + len(unnamed) - len(ours)
        if lost := before - set(listed):
            without = rows.filter(key__in=lost)  # those that are still there
            if new := without.filter(missed_at=None).update(missed_at=now):
                log.error("files have no content", count=new)
            missing += without.count()
        # What was missing may be there again, as after a backup was played back.
        back = [file.pk for file in rows.filter(missed_at__isnull=False) if file.key in listed]
        StoredFile.objects.filter(pk__in=back).update(missed_at=None)
    if older:
        log.error("contents are older than the database, and stay", count=older)
    return removed, missing
