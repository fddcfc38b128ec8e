from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.rates import admit_to
from files.errors import ContentError, TooLargeError

SLACK = 100_000  # the parts of the form around the file


def uploaded(request: HttpRequest, most_bytes: int, name: str = "file") -> bytes:
    """The content of the form's one file of that name. TooLargeError, where its length is declared before anything of
    it is read; ContentError where there is none, or nothing in it; GateError where the person gave too many.
    """
    if isinstance(request.user, User):
        admit_to(request.user, "uploads", timezone.now())
    declared = request.headers.get("Content-Length", "")
    if declared.isdecimal() and int(declared) > most_bytes + SLACK:
        raise _too_large(most_bytes)
    file = request.FILES.get(name) if request.content_type == "multipart/form-data" else None
    if not isinstance(file, UploadedFile):
        raise ContentError("no_file", _("Choose a file first."))
    if (file.size or 0) > most_bytes:
        raise _too_large(most_bytes)
    if not file.size:
        raise ContentError("empty", _("There is nothing in this file."))
    content: bytes = file.read()
    return content


def _too_large(most_bytes: int) -> TooLargeError:
    words = _("This file is too large: it can have at most %(most)s MB.")
    return TooLargeError("too_large", words % {"most": most_bytes // 1_000_000})
