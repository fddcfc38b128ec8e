"""Files of earlier talk: kept while somebody looks at one, and read."""

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

UPLOADS_EACH = 5  # that a person looks at
BEGINNING_BYTES, FIRST_LINES, LINE_CHARACTERS = 4_000, 6, 200


class PastImportError(CompanionsError):
    """A past that cannot be remembered; nothing of it was."""


def keep_upload(user: User, content: bytes, form: str, name: str, now: datetime) -> PastUpload:
    """Keep the file for a day. FilesError where there is no room."""
    kept = PastUpload.objects.owned_by(user).order_by("-created_at").values_list("pk", flat=True)
    for pk in list(kept[UPLOADS_EACH - 1 :]):
        drop_upload(pk)
    file = store_content(user, content, StoredFile.Kind.PAST, "application/octet-stream", now)
    name = one_line(storable(name))[:FILE_NAME_CHARACTERS]
    return PastUpload.objects.create(user=user, file=file, name=name, form=form, created_at=now)


def read_content_of(user: User, content: bytes, *, form: str = "", pattern: str = "") -> PastFile:
    """Return what the file of the person's holds; its times are theirs where it tells no zone. PastError, BusyError.

    PastImportError where it is not of the `form` that was told. With a `pattern` it is plain text.
    """
    read = read_past(content, TextPattern(template=pattern) if pattern else None, zone=user.zone)
    if form and read.form != form:
        told = _("This file is of another form: %(form)s.") % {"form": read.form}
        raise PastImportError("other_form", told)
    return read


def read_file(file: StoredFile | None, pattern: str = "") -> PastFile:
    """Return what the kept file holds. PastError, FilesError."""
    if file is None:
        raise PastImportError("no_file", _("The file is gone. Bring it again."))
    return read_content_of(file.user, read_content(file), pattern=pattern)


def read_first_lines(file: StoredFile) -> list[str]:
    """Return how a file of text begins, whatever it is; nothing of what is packed. FilesError."""
    with closing(open_content(file, 0, min(file.bytes, BEGINNING_BYTES))) as part:
        content = part.read()
    if b"\0" in content:
        return []
    lines = [line for line in content.decode(errors="replace").splitlines() if line.strip()]
    return [shorten(line, LINE_CHARACTERS) for line in lines[:FIRST_LINES]]


def drop_upload(upload_id: UUID) -> None:
    """Drop it with its file."""
    StoredFile.objects.filter(kind=StoredFile.Kind.PAST, past_upload=upload_id).delete()


def delete_unused_uploads(now: datetime) -> int:
    """Delete files of pasts at which nobody has looked for a day; return how many."""
    files = StoredFile.objects.filter(kind=StoredFile.Kind.PAST, past_import=None)
    old = list(files.filter(created_at__lt=now - UNUSED_AFTER))
    for file in old:
        file.delete()
    return len(old)
