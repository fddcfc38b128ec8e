"""Contents and their rows: the content comes before its row and goes after it, so that no row is without its content."""

import hashlib
import secrets
from contextlib import closing
from datetime import datetime

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Model, Sum
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from files.errors import ContentError, FilesError, NoRoomError
from files.models import StoredFile
from files.storages.private import Part, private

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
