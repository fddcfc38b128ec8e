"""The person's decision on a proposal to forget, made on the card below the answer that holds the proposal."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django_htmx.http import HttpResponseClientRefresh

from accounts.authentication import SignedInRequest
from companions.access import get_forget_proposal
from companions.errors import ForgetProposalError
from companions.memories.forget_proposals import confirm, decline
from companions.pages.shortcuts import post_view


@post_view
def confirm_proposal(request: SignedInRequest, companion_id: UUID, proposal_id: UUID) -> HttpResponse:
    """Confirm the proposal: forget what is ticked."""
    proposal = get_forget_proposal(request.user, companion_id, proposal_id)
    try:
        count = confirm(proposal, request.POST.getlist("key"), timezone.now())
    except ForgetProposalError as error:
        messages.error(request, str(error.detail))
    else:
        text = ngettext("%(count)s thing has been forgotten.", "%(count)s things have been forgotten.", count)
        messages.success(request, text % {"count": count})
    return _return_to_talk(request, companion_id)


@post_view
def decline_proposal(request: SignedInRequest, companion_id: UUID, proposal_id: UUID) -> HttpResponse:
    """Decline the proposal: nothing is forgotten."""
    decline(get_forget_proposal(request.user, companion_id, proposal_id), timezone.now())
    messages.success(request, _("Nothing was forgotten."))
    return _return_to_talk(request, companion_id)


def _return_to_talk(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    return HttpResponseClientRefresh() if request.htmx else redirect("talk", companion_id)
