"""Contents and their rows: the content comes before its row and goes after it, so that no row is without its content."""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Min, Model, Sum
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from files.errors import ContentError, FilesError, NoRoomError
from files.models import StoredFile
from files.storage import Content, Part, private

log = structlog.get_logger(__name__)


def keep(
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
    """The row of what is stored now. NoRoomError where the person's room is used up, StorageAwayError where the
    storage fails: then there is neither row nor content. It speaks with the storage: not for within a transaction.
    """
    if not content:
        raise ContentError("empty", _("There is nothing in it."))
    _look_for_room(user, len(content))
    file = StoredFile(
        user=user,
        companion_id=companion.pk if companion else None,
        kind=kind,
        key=_new_key(kind),
        content_type=content_type,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        seconds=seconds,
        width=width,
        height=height,
        created_at=now,
    )
    private().put(file.key, content, content_type)
    return _with_row(file)


def opened(file: StoredFile, start: int = 0, end: int | None = None) -> Part:
    """Its content from `start` up to, not with, `end`, as a stream that is to be closed. ContentLostError where it is
    not there or not of the size that was stored, StorageAwayError.
    """
    return private().part(file.key, start, file.bytes if end is None else end, of=file.bytes)


def content_of(file: StoredFile) -> bytes:
    """All of it; the errors of `opened`."""
    with closing(opened(file)) as part:
        return part.read()


def drop(file: StoredFile) -> None:
    """Delete the row; its content goes as the transaction is committed, as it does however a row is deleted."""
    file.delete()


def used_bytes(user: User) -> int:
    """What the person's files take."""
    return StoredFile.objects.owned_by(user).aggregate(all=Sum("bytes"))["all"] or 0


def _new_key(kind: str) -> str:
    """A name that nobody can guess, and that says nothing but the kind."""
    name = secrets.token_urlsafe(32)
    return f"{kind}/{hashlib.sha256(name.encode()).hexdigest()[:2]}/{name}"


def _with_row(file: StoredFile) -> StoredFile:
    """The file with its row; where none can be, the content is removed again."""
    try:
        with transaction.atomic():
            # One at a time: two that fill the last room together would each find it free.
            User.objects.select_for_update(no_key=True, of=("self",)).get(pk=file.user_id)
            _look_for_room(file.user, file.bytes)
            file.save(force_insert=True)
    except Exception:  # whatever it was, it is told as it is once the content is gone
        _remove_again(file.key)
        raise
    return file


def _remove_again(key: str) -> None:
    try:
        private().remove([key])
    except FilesError:
        log.warning("a content has no row and stays until it is swept", key=key)


def _look_for_room(user: User, more: int) -> None:
    if used_bytes(user) + more > settings.FILES_BYTES_EACH:
        most = settings.FILES_BYTES_EACH // 1_000_000
        words = _("Your files would take more than the %(most)s MB there are for each. Delete some first.")
        raise NoRoomError("no_room", words % {"most": most})


class Leaving:
    """Contents that go together: a deleted companion may have thousands, and one call can remove many."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self) -> None:
        try:
            private().remove(self.keys)
        except FilesError as error:
            log.error("contents stay until they are swept", count=len(self.keys), code=error.code)


@receiver(post_delete, sender=StoredFile)
def leave(instance: StoredFile, using: str, **_more: Any) -> None:
    """Its content goes on commit, with those that were deleted right before it."""
    connection = transaction.get_connection(using)
    leaving = _last(connection) or Leaving()
    leaving.keys.append(instance.key)
    if len(leaving.keys) == 1:
        transaction.on_commit(leaving, using=using, robust=True)


def _last(connection: BaseDatabaseWrapper) -> Leaving | None:
    """What was registered last, where that was in this very savepoint: one rolled back forgets what it registered."""
    if not connection.run_on_commit:
        return None
    savepoints, registered = connection.run_on_commit[-1][:2]
    is_same = savepoints == set(connection.savepoint_ids)
    return registered if is_same and isinstance(registered, Leaving) else None


YOUNG = timedelta(hours=1)  # a content comes before its row
DIGITS = "0123456789abcdef"


class Swept(NamedTuple):
    removed: int
    missing: int


def sweep(now: datetime) -> Swept:
    """How many contents were removed because no row names them, and how many rows were found without their content.

    It goes share by share, so that neither list is ever whole in memory. StorageAwayError: the next one goes on.
    What is older than the database is not its own: a new one at an old folder, or one whose backup is yet to be played
    back, would else remove all that there is.
    """
    removed = missing = strange = 0
    began_at = _database_began_at()
    for share, contents in _shares():
        rows = StoredFile.objects.filter(key__startswith=share)
        before = set(rows.values_list("key", flat=True))
        listed = {one.key: one.stored_at for one in contents}
        named = before | set(rows.values_list("key", flat=True))  # also those that came meanwhile
        unnamed = {key: at for key, at in listed.items() if key not in named and at < now - YOUNG}
        ours = [key for key, at in unnamed.items() if at >= began_at]
        removed, strange = removed + _remove(ours), strange + len(unnamed) - len(ours)
        missing += _note(before - set(listed), now)
        _take_back(set(listed), share)
    if strange:
        log.error("contents are older than the database, and stay", count=strange)
    return Swept(removed, missing)


def _database_began_at() -> datetime:
    """When its first table was made; a backup that is played back tells of the database that it was made of."""
    recorded = MigrationRecorder(connection).migration_qs
    began_at: datetime = recorded.aggregate(first=Min("applied"))["first"]
    return began_at


def _shares() -> Iterator[tuple[str, list[Content]]]:
    """What all keys of a share begin with, and what the storage has of it; storages list by name."""
    for kind in StoredFile.Kind.values:
        listed = groupby(private().contents(kind), _share)
        share, contents = next(listed, ("", iter(())))
        for digit in DIGITS:
            while share and share < f"{kind}/{digit}":  # nothing that Kith has put there
                share, contents = next(listed, ("", iter(())))
            is_here = share == f"{kind}/{digit}"
            yield f"{kind}/{digit}", list(contents) if is_here else []


def _share(content: Content) -> str:
    """The kind, and the first digit of the folder under it."""
    return content.key[: content.key.index("/") + 2]


def _remove(keys: list[str]) -> int:
    if keys:
        private().remove(keys)
        log.info("contents without a row were removed", count=len(keys))
    return len(keys)


def _note(keys: set[str], now: datetime) -> int:
    """Rows deleted meanwhile are no longer there to be noted."""
    missing = StoredFile.objects.filter(key__in=keys)
    new = missing.filter(missed_at=None).update(missed_at=now)
    if new:
        log.error("files have no content", count=new)
    return missing.count() if keys else 0


def _take_back(keys: set[str], share: str) -> None:
    """What was missing and is there again, as after a backup was played back."""
    noted = StoredFile.objects.filter(key__startswith=share, missed_at__isnull=False)
    back = [one.pk for one in noted if one.key in keys]
    StoredFile.objects.filter(pk__in=back).update(missed_at=None)
