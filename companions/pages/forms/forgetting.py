"""What a person asks of the page: a policy with its numbers, a time, a memory, and recalls that are only thought of."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.errors import ParameterError
from memory.scoring import Policy, offer_of
from text.storable import is_storable

MAX_DAYS = 1095
MAX_RECALLS = 50
STEPS = [(1, _("1 day")), (7, _("1 week")), (30, _("1 month")), (365, _("1 year"))]


class PolicyForm(forms.Form):
    """The numbers of one policy; what is not given stays as it was."""

    def __init__(self, policy: str, values: Mapping[str, float], data: Any = None) -> None:
        super().__init__(data, prefix=policy, initial=dict(values))
        self.policy, self.offer = policy, offer_of(policy)
        for parameter in self.offer.parameters:
            kind = forms.IntegerField if parameter.is_whole else forms.FloatField
            shown: dict[str, Any] = {"label": parameter.label, "required": False}
            shown |= {"min_value": parameter.least, "max_value": parameter.most}
            self.fields[parameter.name] = kind(**shown)
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
    def unusual(self) -> dict[str, float]:
        """The numbers that are not as usual: what a companion keeps."""
        usual, values = self.offer.defaults, self.offer.values(self.built)
        return {name: value for name, value in values.items() if value != usual[name]}

    @property
    def sliders(self) -> list[dict[str, Any]]:
        """The numbers with their ends, as HTML has them in every language, by the names under which they are sent."""
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
    """What is to be looked at: when, which memory, recalled how often then in thought, with which cue, on which page."""

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
            raise forms.ValidationError(_("This holds characters that are not text."))
        return cue

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors:
            cleaned["days"] = min(max((cleaned["days"] or 0) + (cleaned["move"] or 0), 0), MAX_DAYS)
            recalls = (cleaned["recalls"] or 0) + cleaned["again"] - cleaned["undo"]
            cleaned["recalls"] = min(max(recalls, 0), MAX_RECALLS)
        return cleaned
