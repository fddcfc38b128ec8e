"""The page of the nights: what consolidation changed, with buttons to undo or settle each change."""

from collections.abc import Callable
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.memories import consolidation
from companions.models import Companion
from companions.pages.shortcuts import list_page, page_view, post_view
from jobs.lease import LEASE_TIME
from memory.consolidation.runs import retry as retry_night
from memory.errors import UndoError
from memory.models import Change, Consolidation

PAGE_SIZE = 10
UNDONE = {
    Change.Kind.MERGED: _("Undone: they are separate again."),
    Change.Kind.CONTRADICTION: _("Undone: this is open again."),
    Change.Kind.INSIGHT: _("Undone: the thought has been let go."),
    Change.Kind.REVIEWED: _("Undone: it is as it was before."),
}
SETTLED = {
    Change.Settled.A: _("Settled: the first holds true. The other no longer does, but is not deleted."),
    Change.Settled.B: _("Settled: the second holds true. The other no longer does, but is not deleted."),
    Change.Settled.BOTH: _("Settled: both hold true."),
}


@page_view
def nights(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show what the nightly consolidations changed, newest first, with what can be undone or settled."""
    companion = get_companion(request.user, companion_id)
    cursor = request.GET.get("cursor") or None
    ended = consolidation.load_ended_nights(companion).with_newest()
    listed, following = list_page([(ended, "ended_at")], cursor, PAGE_SIZE)
    waiting = None
    if cursor is None and not (listed and listed[0].is_newest):
        waiting = companion.consolidations.filter(state=Consolidation.State.WAITING).first()
    context = {
        "companion": companion,
        "nights": listed,
        "following": following,
        "cursor": cursor or "",
        "waiting": waiting,
        "is_put_off": waiting and waiting.next_at > timezone.now() + LEASE_TIME,  # a lease ends earlier
    }
    return render(request, "nights/nights.html", context)


@post_view
def retry(request: SignedInRequest, companion_id: UUID, night_id: UUID) -> HttpResponse:
    """Have a failed night's work done again, now."""
    companion = get_companion(request.user, companion_id)
    if not companion.consolidations.filter(pk=night_id).exists():
        raise Http404
    if not retry_night(companion.pk, night_id, timezone.now()):
        messages.info(request, _("This has been begun again already, or a later night has made up for it."))
    return redirect("nights", companion_id)


@post_view
def undo(request: SignedInRequest, companion_id: UUID, change_id: UUID) -> HttpResponse:
    """Undo one change, and say how it went."""
    companion = get_companion(request.user, companion_id)

    def act() -> Promise:
        change = consolidation.undo_change(companion, change_id, timezone.now())
        return UNDONE[Change.Kind(change.kind)]

    return _act_on_change(request, companion, change_id, act)


@post_view
def settle(request: SignedInRequest, companion_id: UUID, change_id: UUID) -> HttpResponse:
    """Settle a contradiction as chosen in `keep`, and say how it went."""
    companion, keep = get_companion(request.user, companion_id), request.POST.get("keep", "")

    def act() -> Promise:
        if keep not in Change.Settled.values:
            raise UndoError("not_valid", _("Choose one of the two, or both."))
        consolidation.settle_change(companion, change_id, Change.Settled(keep), timezone.now())
        return SETTLED[Change.Settled(keep)]

    return _act_on_change(request, companion, change_id, act)


def _act_on_change(
    request: SignedInRequest, companion: Companion, change_id: UUID, act: Callable[[], Promise]
) -> HttpResponse:
    """Call `act`, and redirect to the change on its page with the message that `act` returns, or its error."""
    try:
        messages.success(request, str(act()))
    except Change.DoesNotExist as error:
        raise Http404 from error
    except UndoError as error:
        messages.error(request, str(error.detail))
    cursor = request.POST.get("cursor", "")
    query = f"?{urlencode({'cursor': cursor})}" if cursor else ""
    return redirect(f"{reverse('nights', args=[companion.pk])}{query}#change-{change_id}")
