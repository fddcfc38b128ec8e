"""What a person asks of the page: a rule with its numbers, a time, a memory, and recalls that are only thought of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.emotion import Reaction
from memory.errors import ParameterError
from memory.policies import Parameter, Policy, offer_of
from memory.projection import UNASKED
from memory.text import is_storable

FURTHEST_DAYS = 1095
MOST_AGAIN = 50
FRESH = "fresh"  # what is looked at where no memory is
CUE_CHARACTERS = 1_000
STEPS = [(1, _("1 day")), (7, _("1 week")), (30, _("1 month")), (365, _("1 year"))]
HOW = [("", _("as its mood has it")), *Reaction.choices, (UNASKED, _("it came of itself"))]


@dataclass(frozen=True, slots=True)
class Slider:
    """One number of a rule as a page shows it: the name by which it is sent, its ends and its value."""

    name: str
    label: Promise
    least: str
    most: str
    step: str
    value: str


class PolicyForm(forms.Form):
    """The numbers of one policy; what is not given stays as it was."""

    def __init__(self, policy: str, values: Mapping[str, float], data: Any = None) -> None:
        super().__init__(data, prefix=policy, initial=dict(values))
        self.policy, self.offer = policy, offer_of(policy)
        self.fields |= {one.name: _field(one) for one in self.offer.parameters}
        self.built: Policy = self.offer.built(values)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        given = {name: value for name, value in cleaned.items() if value is not None}
        try:
            self.built = self.offer.built({**self.initial, **given})
        except ParameterError as error:
            if not self.errors:
                raise forms.ValidationError(_("These numbers do not go together.")) from error
        return cleaned

    @property
    def values(self) -> dict[str, float]:
        return self.offer.values(self.built)

    @property
    def unusual(self) -> dict[str, float]:
        """Those that are not as usual: what a companion keeps."""
        usual = self.offer.defaults
        return {name: value for name, value in self.values.items() if value != usual[name]}

    @property
    def sliders(self) -> list[Slider]:
        values = self.values
        return [
            Slider(
                self.add_prefix(one.name),
                one.label,
                *_written(one.least, one.most, one.step, values[one.name]),
            )
            for one in self.offer.parameters
        ]


def _written(*numbers: float) -> list[str]:
    """As HTML has numbers, in every language."""
    return [f"{number:g}" for number in numbers]


def _field(one: Parameter) -> forms.Field:
    shared: dict[str, Any] = {
        "label": one.label,
        "required": False,
        "min_value": one.least,
        "max_value": one.most,
    }
    if one.is_whole:
        return forms.IntegerField(**shared)
    return forms.FloatField(**shared)


class Thought(NamedTuple):
    """A recall that is only thought of: so many days ahead, and how it is taken."""

    days: int
    how: str


class AheadForm(forms.Form):
    """What is to be looked at: when, which memory, recalled how often in thought, with which cue, on which page."""

    days = forms.IntegerField(required=False, min_value=0, max_value=FURTHEST_DAYS)
    move = forms.IntegerField(required=False, min_value=-FURTHEST_DAYS, max_value=FURTHEST_DAYS)
    memory = forms.UUIDField(required=False)
    look = forms.CharField(required=False, max_length=40)
    recalled = forms.CharField(required=False, max_length=3_000)
    how = forms.ChoiceField(required=False, choices=HOW)
    again = forms.BooleanField(required=False)
    undo = forms.BooleanField(required=False)
    cue = forms.CharField(required=False, max_length=CUE_CHARACTERS)
    page = forms.IntegerField(required=False, min_value=1, max_value=10_000)

    def clean_cue(self) -> str:
        cue: str = self.cleaned_data["cue"]
        if not is_storable(cue):
            raise forms.ValidationError(_("This holds characters that are not text."))
        return cue

    def clean_recalled(self) -> list[Thought]:
        """From "0:joy,7:", days and how."""
        try:
            thoughts = [_thought(one) for one in filter(None, self.cleaned_data["recalled"].split(","))]
        except ValueError as error:
            raise forms.ValidationError(_("These are no recalls that can be thought of.")) from error
        return thoughts

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        moved = (cleaned["days"] or 0) + (cleaned["move"] or 0)
        cleaned["days"] = min(max(moved, 0), FURTHEST_DAYS)
        if cleaned["look"]:
            cleaned["memory"], cleaned["recalled"] = self._other(cleaned["look"]), []
        if cleaned["again"]:
            cleaned["recalled"].append(Thought(cleaned["days"], cleaned["how"]))
        if cleaned["undo"]:
            cleaned["recalled"] = cleaned["recalled"][:-1]
        if len(cleaned["recalled"]) > MOST_AGAIN:
            raise forms.ValidationError(
                _("That is enough: more recalls than this cannot be thought of at once.")
            )
        return cleaned

    def _other(self, look: str) -> UUID | None:
        """The memory that is to be looked at instead; none is one that was never recalled."""
        try:
            return None if look == FRESH else UUID(look)
        except ValueError as error:
            raise forms.ValidationError(_("There is no such memory.")) from error

    @property
    def recalled_as_sent(self) -> str:
        return ",".join(f"{one.days}:{one.how}" for one in self.cleaned_data["recalled"])


def _thought(written: str) -> Thought:
    days, _colon, how = written.partition(":")
    if not 0 <= int(days) <= FURTHEST_DAYS or how not in dict(HOW):
        raise ValueError(written)
    return Thought(int(days), how)
