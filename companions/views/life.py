"""A companion's life between talks: how it feels, what it did and why, what is planned, and what it may."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.signed_in import SignedInRequest
from companions.life_forms import LifeForm
from companions.models import Companion
from companions.views.finding import my_companion

UNPROCESSABLE = 422


@require_safe
@login_required
@never_cache
def life(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = my_companion(request, companion_id)
    return _page(request, companion, form=LifeForm(instance=companion.life))


def _page(request: SignedInRequest, companion: Companion, status: int = 200, **more: Any) -> HttpResponse:
    return render(request, "life/life.html", {"companion": companion, **more}, status=status)


@require_POST
@login_required
def settings(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Keep how it lives; with errors the page comes back with them."""
    companion = my_companion(request, companion_id)
    form = LifeForm(request.POST, instance=companion.life)
    if not form.is_valid():
        return _page(request, my_companion(request, companion_id), UNPROCESSABLE, form=form)
    form.save()
    messages.success(request, _("Saved."))
    return redirect("life", companion_id)


@require_POST
@login_required
def mute(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Mute it, or let it be heard again: what stands in `is_muted`."""
    shown = my_companion(request, companion_id).life
    shown.is_muted = request.POST.get("is_muted") == "yes"
    shown.save(update_fields=["is_muted"])
    return redirect("life", companion_id)
