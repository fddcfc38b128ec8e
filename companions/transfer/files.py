"""The files that are sent in and out: an upload as bytes, an export as a response."""

from asgiref.sync import async_to_sync
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone

from accounts import shares
from companions.models import Companion
from companions.transfer import digital_life
from companions.transfer.archive import export


def read_upload(request: HttpRequest) -> bytes:
    """Return the body, or the `file` in it; MovingError where it is too long to be read."""
    file = request.FILES.get("file")
    try:
        size = file.size or 0 if isinstance(file, UploadedFile) else len(request.body)
    except RequestDataTooBig:
        size = digital_life.MOST_BYTES + 1
    if size > digital_life.MOST_BYTES:
        raise digital_life.too_large()
    return file.read() if isinstance(file, UploadedFile) else request.body


def export_response(companion: Companion) -> StreamingHttpResponse:
    """Stream everything of the companion as a JSON file."""
    async_to_sync(shares.take)("exports")
    now = timezone.now()
    response = StreamingHttpResponse(export(companion, now), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="kith-{companion.pk}-{now:%Y-%m-%d}.json"'
    response["Cache-Control"] = "private, no-store"
    return response
