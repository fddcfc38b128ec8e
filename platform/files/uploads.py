"""What people send: one file of a form."""

from datetime import timedelta
from typing import BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.rates import admit_to
from files.errors import ContentError, TooLargeError

# So long is kept what somebody brought and looks at, before anything is made of it.
UNUSED_AFTER = timedelta(days=1)
FORM_OVERHEAD_BYTES = 100_000  # the parts of the form around the file


def read_name(request: HttpRequest) -> str:
    """Return what the person calls the file that `read_upload` returned."""
    file = request.FILES.get("file")
    return (file.name or "") if isinstance(file, UploadedFile) else ""


def read_upload(request: HttpRequest, most_bytes: int) -> bytes:
    """Return the content of the form's one `file`; the errors of `open_upload`."""
    return open_upload(request, most_bytes).read()


def open_upload(request: HttpRequest, most_bytes: int) -> BinaryIO:
    """Return the form's one `file`, which lies on the disk where it is large.

    TooLargeError, where its length is declared before anything of it is read; ContentError where there is none, or
    nothing in it; GateError where the person gave too many.
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
        raise ContentError("empty", _("There is nothing in this file."))
    return cast(BinaryIO, file)  # as Django passes its methods on, which its stubs do not say


def refuse_size(most_bytes: int) -> TooLargeError:
    """Return the refusal of a file of more bytes."""
    sentence = _("This file is too large: it can have at most %(most)s MB.")
    return TooLargeError("too_large", sentence % {"most": most_bytes // 1_000_000})
