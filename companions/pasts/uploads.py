"""Uploaded files of earlier talk: kept for a day while their user looks at them, and read."""

from contextlib import closing
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.models import User
from companions.errors import CompanionsError
from companions.models import PastUpload
from companions.models.past import FILE_NAME_CHARACTERS
from files.contents import open_content, read_content, store_content
from files.models import StoredFile
from files.uploads import UNUSED_AFTER
from pasts.past import PastFile, TextPattern
from pasts.reader import read_past
from text.strings import one_line, shorten, storable

UPLOADS_EACH = 5  # kept for each user
BEGINNING_BYTES, FIRST_LINES, LINE_CHARACTERS = 4_000, 6, 200


class PastImportError(CompanionsError):
    """A past that cannot be imported; nothing of it was saved."""


def keep_upload(user: User, content: bytes, form: str, name: str, now: datetime) -> PastUpload:
    """Store the file for a day, deleting the user's oldest uploads above UPLOADS_EACH; FilesError if it has no room."""
    kept = PastUpload.objects.owned_by(user).order_by("-created_at").values_list("pk", flat=True)
    for pk in list(kept[UPLOADS_EACH - 1 :]):
        drop_upload(pk)
    file = store_content(user, content, StoredFile.Kind.PAST, "application/octet-stream", now)
    name = one_line(storable(name))[:FILE_NAME_CHARACTERS]
    return PastUpload.objects.create(user=user, file=file, name=name, form=form, created_at=now)


def read_content_of(user: User, content: bytes, *, form: str = "", pattern: str = "") -> PastFile:
    """Return the talks in a user's file. Times without a zone are in the user's; a `pattern` is for plain text.

    Raise PastError or BusyError, and PastImportError if a `form` is given and the file has another.
    """
    read = read_past(content, TextPattern(template=pattern) if pattern else None, zone=user.zone)
    if form and read.form != form:
        told = _("This file has a different format: %(form)s.") % {"form": read.form}
        raise PastImportError("other_form", told)
    return read


def read_file(file: StoredFile | None, pattern: str = "") -> PastFile:
    """Return the talks in the stored file. Raise PastImportError if it is None, PastError, BusyError or FilesError."""
    if file is None:
        raise PastImportError("no_file", _("The file is no longer here. Send it again."))
    return read_content_of(file.user, read_content(file), pattern=pattern)


def read_first_lines(file: StoredFile) -> list[str]:
    """Return the first lines of a text file in any form, or [] if the file is binary; raise FilesError."""
    with closing(open_content(file, 0, min(file.bytes, BEGINNING_BYTES))) as part:
        content = part.read()
    if b"\0" in content:
        return []
    lines = [line for line in content.decode(errors="replace").splitlines() if line.strip()]
    return [shorten(line, LINE_CHARACTERS) for line in lines[:FIRST_LINES]]


def drop_upload(upload_id: UUID) -> None:
    """Delete the upload with its file."""
    StoredFile.objects.filter(kind=StoredFile.Kind.PAST, past_upload=upload_id).delete()


def delete_unused_uploads(now: datetime) -> int:
    """Delete files of pasts that nobody imported within a day; return how many."""
    files = StoredFile.objects.filter(kind=StoredFile.Kind.PAST, past_import=None)
    old = list(files.filter(created_at__lt=now - UNUSED_AFTER))
    for file in old:
        file.delete()
    return len(old)
