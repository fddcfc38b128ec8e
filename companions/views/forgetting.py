"""The page of forgetting and feeling: it looks ahead without a trace, and keeps a rule only where it is told to."""

from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.signed_in import SignedInRequest
from companions.forgetting.asking import FURTHEST_DAYS, HOW, STEPS, AheadForm, PolicyForm
from companions.forgetting.drawing import day_map, first_day, mood_chart
from companions.forgetting.showing import Shown
from companions.models import Companion
from companions.views.finding import my_companion
from memory.policies import CHOICES, offer_of
from memory.projection import MOST_LIVES, felt_since, lives, moods, recalls_by_day

MOOD_WEEKS = timedelta(weeks=4)
MOOD_STEP = timedelta(hours=6)
UNPROCESSABLE = 422
WHOLE, SHOWN = "forgetting", "forgetting-shown"  # what htmx may put the answer into


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def forgetting(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """What a rule would make of the companion's memories; GET never writes, POST keeps the rule."""
    companion = my_companion(request, companion_id)
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
    chosen, ahead = _chosen(companion, asked), AheadForm(asked)
    context: dict[str, Any] = {"companion": companion, "choices": CHOICES, "how": HOW, "steps": STEPS}
    context |= {"furthest": FURTHEST_DAYS, "today": timezone.localdate()}
    if chosen is None or (chosen.is_bound and not chosen.is_valid()) or not ahead.is_valid():
        return _refused(request, context | {"chosen": chosen, "ahead": ahead, "is_refused": True})
    now = timezone.now()
    felt = felt_since(companion.pk, now - MOOD_WEEKS)
    shown = Shown(companion, now, companion.policy, chosen, ahead, lives(companion.pk), felt)
    context |= {"shown": shown, "chosen": chosen, "ahead": ahead, "most": MOST_LIVES}
    target = request.headers.get("HX-Target") if request.headers.get("HX-Request") else None
    if target in (WHOLE, SHOWN):
        return render(request, f"forgetting/_{'shown' if target == SHOWN else 'whole'}.html", context)
    return render(request, "forgetting/forgetting.html", context | _history(companion, shown, now))


def _refused(request: SignedInRequest, context: dict[str, Any]) -> HttpResponse:
    """What was wrong, in words, in the place of what would be shown."""
    is_part = request.headers.get("HX-Request")
    template = "forgetting/_refused.html" if is_part else "forgetting/refused.html"
    return render(request, template, context, status=UNPROCESSABLE)


def _history(companion: Companion, shown: Shown, now: datetime) -> dict[str, Any]:
    """The mood of the last weeks, and the days on which memories came to mind; one SQL query."""
    zone = companion.user.zone
    today = timezone.localdate(timezone=zone)
    since = datetime.combine(first_day(today), time(), zone)
    return {
        "mood_chart": mood_chart(moods(shown.felt, now - MOOD_WEEKS, now, MOOD_STEP)),
        "day_map": day_map(recalls_by_day(companion.pk, since, zone), today),
    }
