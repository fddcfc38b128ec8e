"""The forms of a companion: who it is, how it remembers, and its name typed before it is deleted."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from companions.models import Companion

HUE_STEP, FIRST_HUE = 30, 10
PRESET_HUES = tuple(range(FIRST_HUE, 360, HUE_STEP))  # static/css/tokens.css holds their colours


def find_nearest_preset(hue: int) -> int:
    """Return the preset next to a hue in degrees, round the circle."""
    return PRESET_HUES[round((hue - FIRST_HUE) / HUE_STEP) % len(PRESET_HUES)]


class CompanionForm(forms.ModelForm):  # type: ignore[type-arg]
    """Who a companion is: its name, persona, greeting and one of the twelve tints."""

    tint = forms.TypedChoiceField(
        label=_("Colour"), coerce=int, choices=[(hue, hue) for hue in PRESET_HUES], widget=forms.RadioSelect
    )

    class Meta:
        model = Companion
        fields: tuple[str, ...] = ("name", "persona", "greeting", "tint")
        widgets: ClassVar[dict[str, Any]] = {
            "name": forms.TextInput(attrs={"autocomplete": "off"}),
            "persona": forms.Textarea(attrs={"rows": 7}),
            "greeting": forms.Textarea(attrs={"rows": 3}),
        }
        help_texts = {
            "persona": _("Who it is and how it speaks. It is read before every answer."),
            "greeting": _("The first thing it says to you. It may stay empty."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["tint"] = find_nearest_preset(int(self.initial.get("tint", 40)))


class CompanionSettingsForm(CompanionForm):
    """The same of a companion that is there already, the rule by which memories come to its mind, and when it closes."""

    class Meta(CompanionForm.Meta):
        fields = (*CompanionForm.Meta.fields, "recall_policy", "idle_hours")
        widgets = {**CompanionForm.Meta.widgets, "recall_policy": forms.RadioSelect}
        help_texts = {
            **CompanionForm.Meta.help_texts,
            "idle_hours": _(
                "From 1 to 720. After such a silence it writes what you spoke of into its diary."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("recall_policy", "idle_hours"):
            self.fields[name].required = False

    def clean_idle_hours(self) -> int:
        hours: int | None = self.cleaned_data["idle_hours"]
        return self.instance.idle_hours if hours is None else hours

    def clean_recall_policy(self) -> str:
        picked: str = self.cleaned_data["recall_policy"] or self.instance.recall_policy
        if picked != self.instance.recall_policy:
            self.instance.recall_parameters = {}  # those were the other rule's
        return picked


class TypedNameForm(forms.Form):
    """The companion's name, typed, so that none is deleted by a slip."""

    typed_name = forms.CharField(
        label=_("Its name"), max_length=80, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, companion: Companion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.companion = companion

    def clean_typed_name(self) -> str:
        typed: str = self.cleaned_data["typed_name"]
        if typed != self.companion.name.strip():
            raise forms.ValidationError(_("This is not its name."))
        return typed
