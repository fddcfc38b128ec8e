"""The page of forgetting: previews what a recall policy would do, without saving anything, and saves one on POST."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.models import Companion
from companions.pages.forgetting_preview import MAX_DAYS, Preview, map_days
from companions.pages.shortcuts import UNPROCESSABLE, form_view
from memory.errors import ParameterError
from memory.scoring import CHOICES, Policy, offer_of
from memory.scoring.projection import MAX_LIVES
from text.strings import is_storable

MAX_RECALLS = 50
STEPS = [
    (1, gettext_lazy("1 day")),
    (7, gettext_lazy("1 week")),
    (30, gettext_lazy("1 month")),
    (365, gettext_lazy("1 year")),
]
# The templates for the elements that htmx may replace, by their ids.
PARTS = {"forgetting": "forgetting/_form_and_preview.html", "forgetting-shown": "forgetting/_preview.html"}


class PolicyForm(forms.Form):
    """The parameters of one policy; a parameter that is not given keeps its value."""

    def __init__(self, policy: str, values: Mapping[str, float], data: Any = None) -> None:
        super().__init__(data, prefix=policy, initial=dict(values))
        self.policy, self.offer = policy, offer_of(policy)
        for parameter in self.offer.parameters:
            field: Any = forms.IntegerField if parameter.is_whole else forms.FloatField
            self.fields[parameter.name] = field(
                label=parameter.label, required=False, min_value=parameter.least, max_value=parameter.most
            )
        self.built: Policy = self.offer.build(values)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        given = {name: value for name, value in cleaned.items() if value is not None}
        try:
            self.built = self.offer.build({**self.initial, **given})
        except ParameterError as error:
            if not self.errors:
                raise forms.ValidationError(_("These numbers do not go together.")) from error
        return cleaned

    @property
    def changed_values(self) -> dict[str, float]:
        """The parameters that differ from the defaults: those that are saved with the companion."""
        usual, values = self.offer.defaults, self.offer.values(self.built)
        return {name: value for name, value in values.items() if value != usual[name]}

    @property
    def sliders(self) -> list[dict[str, Any]]:
        """The parameters with bounds and values, as unlocalised attributes of HTML inputs."""
        values = self.offer.values(self.built)
        return [
            {
                "name": self.add_prefix(parameter.name),
                "label": parameter.label,
                "least": f"{parameter.least:g}",
                "most": f"{parameter.most:g}",
                "step": f"{parameter.step:g}",
                "value": f"{values[parameter.name]:g}",
            }
            for parameter in self.offer.parameters
        ]


class LookForm(forms.Form):
    """What to preview: how many days ahead, which memory, how many imagined recalls of it then, which cue and page."""

    days = forms.IntegerField(required=False, min_value=0, max_value=MAX_DAYS)
    move = forms.IntegerField(required=False, min_value=-MAX_DAYS, max_value=MAX_DAYS)
    memory = forms.UUIDField(required=False)
    recalls = forms.IntegerField(required=False, min_value=0, max_value=MAX_RECALLS)
    again = forms.BooleanField(required=False)
    undo = forms.BooleanField(required=False)
    cue = forms.CharField(required=False, max_length=1_000)
    page = forms.IntegerField(required=False, min_value=1, max_value=10_000)

    def clean_cue(self) -> str:
        cue: str = self.cleaned_data["cue"]
        if not is_storable(cue):
            raise forms.ValidationError(_("This contains characters that are not text."))
        return cue

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            cleaned["days"] = min(max((cleaned["days"] or 0) + (cleaned["move"] or 0), 0), MAX_DAYS)
            recalls = (cleaned["recalls"] or 0) + cleaned["again"] - cleaned["undo"]
            cleaned["recalls"] = min(max(recalls, 0), MAX_RECALLS)
        return cleaned


@form_view
def forgetting(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show what a policy would make of the companion's memories; on POST, save the policy. GET never writes."""
    companion = get_companion(request.user, companion_id)
    if request.method != "POST":
        return _preview(request, companion, request.GET)
    chosen = _read_policy(companion, request.POST)
    if chosen is None or not chosen.is_valid():
        return _preview(request, companion, request.POST)
    companion.recall_policy, companion.recall_parameters = chosen.policy, chosen.changed_values
    companion.save(update_fields=["recall_policy", "recall_parameters"])
    messages.success(
        request, _("Saved. From now on, %(name)s remembers by this rule.") % {"name": companion.name}
    )
    return redirect("forgetting", companion.pk)


def _read_policy(companion: Companion, asked: QueryDict) -> PolicyForm | None:
    """Return the form of the policy asked for, or of the present one by default; None if there is no such policy.

    With `usual`, the form has the policy's default parameters.
    """
    name = asked.get("policy") or companion.recall_policy
    if name not in dict(CHOICES):
        return None
    offer = offer_of(name)
    is_present = name == companion.recall_policy and not asked.get("usual")
    values = offer.values(companion.policy) if is_present else offer.defaults
    return PolicyForm(name, values, None if asked.get("usual") else asked)


def _preview(request: SignedInRequest, companion: Companion, asked: QueryDict) -> HttpResponse:
    chosen, look = _read_policy(companion, asked), LookForm(asked)
    is_part = bool(request.htmx)
    context: dict[str, Any] = {"companion": companion, "chosen": chosen, "look": look}
    if chosen is None or (chosen.is_bound and not chosen.is_valid()) or not look.is_valid():
        template = "forgetting/_refused.html" if is_part else "forgetting/refused.html"
        return render(request, template, context, status=UNPROCESSABLE)
    # The present query without the memory, for links that add one more parameter.
    asked_again = {
        "policy": chosen.policy,
        "days": look.cleaned_data["days"],
        "cue": look.cleaned_data["cue"],
    }
    asked_again |= {slider["name"]: slider["value"] for slider in chosen.sliders}
    context |= {
        "choices": CHOICES,
        "steps": STEPS,
        "furthest": MAX_DAYS,
        "most": MAX_LIVES,
        "shown": Preview(companion, chosen.built, look.cleaned_data, timezone.now()),
        "query": urlencode(asked_again),
    }
    target = request.htmx.target if is_part else None
    if target in PARTS:
        return render(request, PARTS[target], context)
    context["day_map"] = map_days(companion, timezone.localdate(timezone=companion.user.zone))
    return render(request, "forgetting/forgetting.html", context)
