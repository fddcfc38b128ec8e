"""A companion that goes as an archive, and one that comes as such: looked at, then restored by a worker."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from accounts.rates import admit_to
from companions.access import get_archive_upload, get_companion
from companions.archives import uploads
from companions.archives.export import archive_response
from companions.errors import CompanionsError
from companions.models import ArchiveUpload
from companions.pages.shortcuts import UNPROCESSABLE, form_view


@require_safe
@login_required
def export(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return archive_response(get_companion(request.user, companion_id))


@form_view
def archive(request: SignedInRequest, archive_id: UUID) -> HttpResponse:
    """What is in the archive, before anything is made of it; then how far its restore is, and what became of it."""
    upload = get_archive_upload(request.user, archive_id)
    refusal = ""
    if request.method == "POST":
        now = timezone.now()
        if "drop" in request.POST and upload.state == ArchiveUpload.State.KEPT:
            uploads.drop_upload(upload)
            return redirect("companion_new")
        try:
            admit_to(request.user, "companions", now)
            uploads.begin(upload, now)  # two taps are one
            return redirect("archive", upload.pk)
        except CompanionsError as error:
            refusal = str(error.detail)
    shown = uploads.preview(upload)
    context = {"upload": upload, "shown": shown, "refusal": refusal, "states": ArchiveUpload.State}
    return render(request, "companions/archive.html", context, status=UNPROCESSABLE if refusal else 200)
