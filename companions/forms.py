from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from companions.models import Companion
from companions.tints import PRESETS, nearest

MEMORY_CHARACTERS = 8_000


class CompanionForm(forms.ModelForm):  # type: ignore[type-arg]
    """Who a companion is: its name, persona, greeting and one of the twelve tints."""

    tint = forms.TypedChoiceField(
        label=_("Colour"), coerce=int, choices=[(hue, hue) for hue in PRESETS], widget=forms.RadioSelect
    )

    class Meta:
        model = Companion
        fields = ("name", "persona", "greeting", "tint")
        widgets = {
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
        self.initial["tint"] = nearest(int(self.initial.get("tint", 40)))


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


class MemoryForm(forms.Form):
    """One remembered thing in words."""

    text = forms.CharField(
        label=_("What is remembered"),
        max_length=MEMORY_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class MemoryTextForm(MemoryForm):
    """A memory's words to be corrected: what was said may be as long as a message."""

    def __init__(self, *args: Any, longest: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["text"] = forms.CharField(
            label=self.fields["text"].label, max_length=longest, widget=self.fields["text"].widget
        )
