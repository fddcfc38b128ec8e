"""What people send: one file of a form, and what its content is."""

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.rates import admit_to
from files.errors import ContentError, TooLargeError

FORM_OVERHEAD_BYTES = 100_000  # the parts of the form around the file
SIGNATURES: list[tuple[int, bytes, str]] = [  # where, what, and what it then is
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),  # also where there is sound alone
    (4, b"ftyp", "video/mp4"),  # the same
]
RIFF = {"image/webp", "audio/wav"}


def read_upload(request: HttpRequest, most_bytes: int, name: str = "file") -> bytes:
    """Return the content of the form's one file of that name.

    TooLargeError, where its length is declared before anything of it is read; ContentError where there is none, or
    nothing in it; GateError where the person gave too many.
    """
    if isinstance(request.user, User):
        admit_to(request.user, "uploads", timezone.now())
    declared = request.headers.get("Content-Length", "")
    too_large = TooLargeError(
        "too_large",
        _("This file is too large: it can have at most %(most)s MB.") % {"most": most_bytes // 1_000_000},
    )
    if declared.isdecimal() and int(declared) > most_bytes + FORM_OVERHEAD_BYTES:
        raise too_large
    file = request.FILES.get(name) if request.content_type == "multipart/form-data" else None
    if not isinstance(file, UploadedFile):
        raise ContentError("no_file", _("Choose a file first."))
    if (file.size or 0) > most_bytes:
        raise too_large
    if not file.size:
        raise ContentError("empty", _("There is nothing in this file."))
    content: bytes = file.read()
    return content


def detect_type(content: bytes) -> str:
    """Return the content type of a picture or sound that Kith may read; "" for everything else.

    It is told by the first bytes alone: names and headers say what somebody wished it to be.
    """
    for at, signature, content_type in SIGNATURES:
        if content[at : at + len(signature)] == signature:
            return content_type if content_type not in RIFF or content[:4] == b"RIFF" else ""
    return "audio/mpeg" if _is_mpeg_frame(content) else ""


def _is_mpeg_frame(content: bytes) -> bool:
    """An MP3 without tags begins with a frame: eleven bits of sync, then a version and a layer that there are."""
    if len(content) < 4 or content[0] != 0xFF or content[1] & 0xE0 != 0xE0:
        return False
    version, layer, rate = content[1] >> 3 & 3, content[1] >> 1 & 3, content[2] >> 4
    return version != 1 and layer != 0 and rate != 15
