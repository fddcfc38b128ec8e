"""The forms of memories and of documents."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from companions.moments import is_moment

MAX_MEMORY_CHARACTERS = 8_000


class MemoryForm(forms.Form):
    """One remembered thing in words."""

    text = forms.CharField(
        label=_("What is remembered"),
        max_length=MAX_MEMORY_CHARACTERS,
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
