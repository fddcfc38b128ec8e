"""Another model for a companion: the person's decision, and the comparison of both models' answers."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from companions.access import get_companion
from companions.errors import ModelChoiceError
from companions.minds.change import Decision, decide, list_others
from companions.minds.comparison.comparison import MAX_EXCHANGES, USUAL_EXCHANGES, start_comparison
from companions.minds.comparison.report import describe_report, describe_weight
from companions.models import Companion, Comparison
from companions.pages.shortcuts import UNPROCESSABLE, form_view, post_view, redirect_back

COUNTS = (USUAL_EXCHANGES, 12, MAX_EXCHANGES)


class ComparisonForm(forms.Form):
    """The model to compare with the companion's own, and how many exchanges to compare."""

    model = forms.ChoiceField(label=gettext_lazy("Compare with"))
    exchanges = forms.TypedChoiceField(
        label=gettext_lazy("How many of the latest exchanges"),
        coerce=int,
        choices=[(count, str(count)) for count in COUNTS],
        initial=USUAL_EXCHANGES,
        help_text=gettext_lazy(
            "Each is answered twice, which counts towards your allowance for the day. None of the answers are remembered."
        ),
    )

    def __init__(self, others: list[str], data: Any = None) -> None:
        super().__init__(data)
        self.fields["model"].choices = [(model, model) for model in others]  # type: ignore[attr-defined]


@form_view
def show_comparison(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the present comparison and its progress, and the form for a new one; on POST, start it."""
    companion = get_companion(request.user, companion_id)
    form = ComparisonForm(list_others(companion), request.POST or None)
    status = 200
    if request.method == "POST":
        status = UNPROCESSABLE
        if form.is_valid():
            try:
                chosen = form.cleaned_data
                start_comparison(companion, chosen["model"], chosen["exchanges"], timezone.now())
                return redirect("comparison", companion_id)
            except RefusedError as error:
                form.add_error(None, str(error.detail))
    comparison = Comparison.objects.filter(companion=companion).first()
    context = {"companion": companion, "form": form, "comparison": comparison}
    if comparison:
        rows = comparison.exchanges.select_related("prompt__reply__message")
        exchanges = list(rows.defer("prompt__messages", "prompt__tools"))
        answers = [text for row in exchanges for text in (row.own_text, row.other_text)]
        context |= {"exchanges": exchanges, "total": len(answers), "done": len(answers) - answers.count(None)}
    if comparison and comparison.report:
        lines = describe_report(comparison.report)
        context |= {
            "lines": [line for line in lines if not line.is_same],
            "same": [line.label for line in lines if line.is_same],
            "weight": describe_weight(comparison.report),
        }
    is_part = request.htmx.target == "comparison"
    template = "minds/_comparison.html" if is_part else "minds/comparison.html"
    return render(request, template, context, status=status)


@post_view
def delete_comparison(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Delete the comparison, finished or not."""
    companion = get_companion(request.user, companion_id)
    Comparison.objects.filter(companion=companion).delete()
    return redirect("comparison", companion_id)


@post_view
def decide_model(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Carry out the person's `decision` about the `model`, and go back to the page in `next`, or to the talk."""
    companion = get_companion(request.user, companion_id)
    decision, model = request.POST.get("decision", ""), request.POST.get("model", "")
    try:
        decide(companion, decision, model, timezone.now())
    except ModelChoiceError as error:
        messages.error(request, str(error.detail))
    else:
        messages.success(request, _describe_outcome(companion, Decision(decision), model))
    return redirect_back(request, "talk", companion_id)


def _describe_outcome(companion: Companion, decision: Decision, model: str) -> str:
    names = {"name": companion.name, "model": model}
    return {
        Decision.TAKE: _("%(name)s will use %(model)s from now on.") % names,
        Decision.LATER: _("You will be asked again in a week."),
        Decision.DECLINE: _("%(name)s keeps its own model. You will not be asked about %(model)s again.")
        % names,
        Decision.STAND_IN: _(
            "While its own model does not answer, another stands in, currently %(model)s, and each such answer says so."
        )
        % names,
    }[decision]
