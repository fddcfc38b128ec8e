"""The page of forgetting: it looks ahead without a trace, and keeps a policy only where it is told to."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.models import Companion
from companions.pages.decorators import UNPROCESSABLE, form_view
from companions.pages.forgetting_preview import Preview, map_days
from companions.pages.forms.forgetting import MAX_DAYS, STEPS, LookForm, PolicyForm
from memory.scoring import CHOICES, offer_of
from memory.scoring.projection import MAX_LIVES

WHOLE, SHOWN = "forgetting", "forgetting-shown"  # what htmx may put the answer into


@form_view
def forgetting(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """What a rule would make of the companion's memories; GET never writes, POST keeps the rule."""
    companion = get_companion(request.user, companion_id)
    if request.method == "POST":
        return _save(request, companion)
    return _look(request, companion, request.GET)


def _save(request: SignedInRequest, companion: Companion) -> HttpResponse:
    chosen = _chosen(companion, request.POST)
    if chosen is None or not chosen.is_valid():
        return _look(request, companion, request.POST)
    companion.recall_policy, companion.recall_parameters = chosen.policy, chosen.unusual
    companion.save(update_fields=["recall_policy", "recall_parameters"])
    messages.success(
        request, _("Saved. From now on %(name)s remembers by this rule.") % {"name": companion.name}
    )
    return redirect("forgetting", companion.pk)


def _chosen(companion: Companion, asked: QueryDict) -> PolicyForm | None:
    """The rule that was picked, the present one where none was; None where there is no such rule."""
    name = asked.get("policy") or companion.recall_policy
    if name not in dict(CHOICES):
        return None
    offer = offer_of(name)
    is_present = name == companion.recall_policy and not asked.get("usual")
    values = offer.values(companion.policy) if is_present else offer.defaults
    return PolicyForm(name, values, None if asked.get("usual") else asked)


def _look(request: SignedInRequest, companion: Companion, asked: QueryDict) -> HttpResponse:
    chosen, look = _chosen(companion, asked), LookForm(asked)
    is_part = bool(request.headers.get("HX-Request"))
    context: dict[str, Any] = {"companion": companion, "chosen": chosen, "look": look}
    if chosen is None or (chosen.is_bound and not chosen.is_valid()) or not look.is_valid():
        template = "forgetting/_refused.html" if is_part else "forgetting/refused.html"
        return render(request, template, context, status=UNPROCESSABLE)
    context |= {
        "choices": CHOICES,
        "steps": STEPS,
        "furthest": MAX_DAYS,
        "most": MAX_LIVES,
        "today": timezone.localdate(),
        "shown": Preview(companion, chosen, look, timezone.now()),
    }
    target = request.headers.get("HX-Target") if is_part else None
    if target in (WHOLE, SHOWN):
        return render(request, f"forgetting/_{'shown' if target == SHOWN else 'whole'}.html", context)
    context["day_map"] = map_days(companion, timezone.localdate(timezone=companion.user.zone))
    return render(request, "forgetting/forgetting.html", context)
