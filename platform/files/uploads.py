"""Uploads: reading the one file of a form."""

from datetime import timedelta
from typing import BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.limits.rates import admit_to
from accounts.models import User
from files.errors import ContentError, TooLargeError

# How long an upload is kept while its user looks at what would come of it.
UNUSED_AFTER = timedelta(days=1)
FORM_OVERHEAD_BYTES = 100_000  # the parts of the form around the file


def read_name(request: HttpRequest) -> str:
    """Return the file name of the upload that `read_upload` returns, or "" if there is none."""
    file = request.FILES.get("file")
    return (file.name or "") if isinstance(file, UploadedFile) else ""


def read_upload(request: HttpRequest, most_bytes: int) -> bytes:
    """Return the content of the form's one `file`. Raise the errors of `open_upload`."""
    return open_upload(request, most_bytes).read()


def open_upload(request: HttpRequest, most_bytes: int) -> BinaryIO:
    """Return the form's one `file`, which is on disk if it is large.

    Raise TooLargeError (before reading anything if the length is declared), ContentError if there is no file or it is
    empty, GateError if the person uploaded too many.
    """
    if isinstance(request.user, User):
        admit_to(request.user, "uploads", timezone.now())
    declared = request.headers.get("Content-Length", "")
    too_large = refuse_size(most_bytes)
    if declared.isdecimal() and int(declared) > most_bytes + FORM_OVERHEAD_BYTES:
        raise too_large
    file = request.FILES.get("file") if request.content_type == "multipart/form-data" else None
    if not isinstance(file, UploadedFile):
        raise ContentError("no_file", _("Choose a file first."))
    if (file.size or 0) > most_bytes:
        raise too_large
    if not file.size:
        raise ContentError("empty", _("This file is empty."))
    return cast(BinaryIO, file)  # Django delegates the file's methods, which its stubs do not declare


def refuse_size(most_bytes: int) -> TooLargeError:
    """Return the error that refuses a file of more than `most_bytes`."""
    sentence = _("This file is too large: it can have at most %(most)s MB.")
    return TooLargeError("too_large", sentence % {"most": most_bytes // 1_000_000})
