"""What a person has read, and what they were told."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from accounts.signed_in import SignedInRequest
from companions.life.unread import mark_read
from companions.views.finding import my_companion, my_message, uuid_of
from safety import together
from safety.models import Notice


@require_POST
@login_required
def read(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """All that the companion said is read, up to this `message`, and with it."""
    companion = my_companion(request, companion_id)
    if "message" not in request.POST:
        return HttpResponseBadRequest()
    newest = my_message(request, companion_id, uuid_of(request.POST["message"]))
    mark_read(companion, min(newest.said_at, timezone.now()))
    return HttpResponse(status=204)


@require_POST
@login_required
def see_notice(request: SignedInRequest, notice_id: UUID) -> HttpResponse:
    """The person has seen it; back to where they were, or nothing for a script."""
    together.see(get_object_or_404(Notice.objects.owned_by(request.user), pk=notice_id), timezone.now())
    if request.headers.get("HX-Request"):
        return HttpResponse()
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return redirect(back if is_ours else "companions")
