"""Everything of a companion as a file; and DigitalLife's file, out of which a new companion is made."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from accounts.rates import admit_to
from companions.access import get_companion
from companions.errors import CompanionsError
from companions.pages.decorators import post_view
from companions.transfer import digital_life
from companions.transfer.archive import export_response, read_upload
from companions.transfer.digital_life_export import export_mind
from companions.transfer.digital_life_import import import_mind


@require_safe
@login_required
def export(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return export_response(get_companion(request.user, companion_id))


@require_safe
@login_required
def export_digital_life(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    disposition = f'attachment; filename="digital-life-{companion.pk}.json"'
    return JsonResponse(export_mind(companion), headers={"Content-Disposition": disposition})


@post_view
def move_in(request: SignedInRequest) -> HttpResponse:
    """Make a companion of DigitalLife's file; what is wrong with it is said above the form."""
    if "file" not in request.FILES:
        messages.error(request, _("Choose the file that DigitalLife has exported."))
        return redirect("companion_new")
    try:
        admit_to(request.user, "imports", timezone.now())
        mind = digital_life.parse_mind(read_upload(request))
        companion = import_mind(request.user, mind, timezone.now())
    except CompanionsError as error:
        messages.error(request, str(error.detail))
        return redirect("companion_new")
    text = _("%(name)s has moved in, with %(messages)s messages and %(diary)s diary entries.")
    counts = {"messages": mind.messages, "diary": len(mind.longTermMemory)}
    messages.success(request, text % {"name": companion.name, **counts})
    return redirect("talk", companion.pk)
