"""Everything of a companion as a file; and DigitalLife's file, out of which a new companion is made."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.rates import admit_to
from accounts.signed_in import SignedInRequest
from companions.api.moving import exported, given
from companions.errors import CompanionsError
from companions.moving import digital_life
from companions.views.finding import my_companion


@require_safe
@login_required
def export(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return exported(my_companion(request, companion_id))


@require_safe
@login_required
def export_digital_life(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = my_companion(request, companion_id)
    name = f'attachment; filename="digital-life-{companion.pk}.json"'
    return JsonResponse(digital_life.written(companion), headers={"Content-Disposition": name})


@require_POST
@login_required
def move_in(request: SignedInRequest) -> HttpResponse:
    """Make a companion of DigitalLife's file; what is wrong with it is said above the form."""
    if "file" not in request.FILES:
        messages.error(request, _("Choose the file that DigitalLife has exported."))
        return redirect("companion_new")
    try:
        admit_to(request.user, "imports", timezone.now())
        mind = digital_life.read(given(request))
        companion = digital_life.move_in(request.user, mind, timezone.now())
    except CompanionsError as error:
        messages.error(request, str(error.detail))
        return redirect("companion_new")
    said = _("%(name)s has moved in, with %(messages)s messages and %(diary)s diary entries.")
    told = {"name": companion.name, "messages": mind.messages, "diary": len(mind.longTermMemory)}
    messages.success(request, said % told)
    return redirect("talk", companion.pk)
