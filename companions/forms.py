from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from companions.models import Companion
from companions.moments import is_moment
from companions.tints import PRESETS, nearest

MEMORY_CHARACTERS = 8_000


class CompanionForm(forms.ModelForm):  # type: ignore[type-arg]
    """Who a companion is: its name, persona, greeting and one of the twelve tints."""

    tint = forms.TypedChoiceField(
        label=_("Colour"), coerce=int, choices=[(hue, hue) for hue in PRESETS], widget=forms.RadioSelect
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
        self.initial["tint"] = nearest(int(self.initial.get("tint", 40)))


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


class MemoryForm(forms.Form):
    """One remembered thing in words."""

    text = forms.CharField(
        label=_("What is remembered"),
        max_length=MEMORY_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class MemoryTextForm(MemoryForm):
    """A memory's words to be corrected, and its importance: what was said may be as long as a message."""

    importance = forms.IntegerField(
        label=_("How important it is, from 1 to 10"),
        min_value=1,
        max_value=10,
        required=False,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
        help_text=_("5 is usual. What is more important comes to mind a little sooner."),
    )
    happened_at = forms.DateTimeField(
        label=_("When it happened"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )

    def __init__(self, *args: Any, longest: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["text"] = forms.CharField(
            label=self.fields["text"].label, max_length=longest, widget=self.fields["text"].widget
        )

    def clean_happened_at(self) -> datetime | None:
        """A moment that is another one than before; None where it stays."""
        happened_at: datetime | None = self.cleaned_data["happened_at"]
        if happened_at is None or "happened_at" not in self.changed_data:
            return None
        if not is_moment(happened_at):
            raise forms.ValidationError(_("This is too long ago, or too far ahead."))
        return happened_at

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")


class DocumentForm(forms.Form):
    """A long text to read: pasted, or a file."""

    title = forms.CharField(
        label=_("Title"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    text = forms.CharField(
        label=_("Text"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 7})
    )
    file = forms.FileField(
        label=_("Or a file"),
        required=False,
        allow_empty_file=True,
        help_text=_(
            "Plain text or Markdown, at most 2,000,000 characters. Without a title it takes the file's name."
        ),
    )
