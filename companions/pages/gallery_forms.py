"""The forms of the gallery: a search, the terms of a publication, and a report."""

from typing import Any

from django import forms
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from accounts.models import User
from companions.gallery.catalogue import MAX_QUESTION_CHARACTERS, Question, list_ratings
from companions.gallery.publication import Publication
from companions.gallery.submission import Terms
from companions.models import Companion, GalleryReport, GalleryVersion
from companions.models.gallery import (
    LANGUAGES,
    LINE_CHARACTERS,
    MAX_TAGS,
    PUBLISHER_CHARACTERS,
    SUMMARY_CHARACTERS,
    TAG_CHARACTERS,
)
from text.strings import is_storable, one_line


class QuestionForm(forms.Form):
    """A search of the gallery."""

    q = forms.CharField(
        label=gettext_lazy("Search"),
        required=False,
        max_length=MAX_QUESTION_CHARACTERS,
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    tag = forms.CharField(required=False, max_length=TAG_CHARACTERS, widget=forms.HiddenInput)
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        required=False,
        choices=[("", gettext_lazy("any language")), *LANGUAGES],
    )
    rating = forms.ChoiceField(label=gettext_lazy("Age rating"), required=False)

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ratings = [(str(rating), rating.label) for rating in list_ratings(user)]
        self.fields["rating"].choices = [("", _("any age group")), *ratings]  # type: ignore[attr-defined]
        if len(ratings) == 1:
            del self.fields["rating"]

    @property
    def question(self) -> Question:
        """The search, without the values that are not valid."""
        self.is_valid()
        asked = {name: text for name, text in self.cleaned_data.items() if is_storable(text)}
        return Question(
            asked.get("q", ""), asked.get("tag", ""), asked.get("language", ""), asked.get("rating", "")
        )


class PublicationForm(forms.Form):
    """The terms under which somebody publishes a character, and its description."""

    line = forms.CharField(
        label=gettext_lazy("Something it would say"),
        max_length=LINE_CHARACTERS,
        help_text=gettext_lazy("Shown on its card in the gallery."),
        error_messages={"required": gettext_lazy("Write a sentence that it would say.")},
    )
    summary = forms.CharField(
        label=gettext_lazy("Who it is, in a sentence or two"),
        max_length=SUMMARY_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        max_length=MAX_TAGS * (TAG_CHARACTERS + 2),
        help_text=gettext_lazy("Separated by commas; at most eight."),
    )
    language = forms.ChoiceField(label=gettext_lazy("Language"), choices=LANGUAGES)
    rating = forms.ChoiceField(label=gettext_lazy("Age rating"))
    licence = forms.ChoiceField(
        label=gettext_lazy("What others may do with it"),
        choices=GalleryVersion.Licence,
        widget=forms.RadioSelect,
        error_messages={"required": gettext_lazy("Choose what others may do with it.")},
    )
    published_as = forms.CharField(
        label=gettext_lazy("What you want to be called"),
        max_length=PUBLISHER_CHARACTERS,
        help_text=gettext_lazy("Everybody sees this beside the character. It need not be your real name."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": gettext_lazy("Write what you want to be called beside it.")},
    )
    keeps_name = forms.BooleanField(
        label=gettext_lazy("Leave my name in its texts"),
        required=False,
        help_text=gettext_lazy("Otherwise, it becomes the name of whoever talks with it."),
    )
    is_mine = forms.BooleanField(
        label=gettext_lazy("It is mine to share: I wrote it, or its author allows it."),
        error_messages={"required": gettext_lazy("You can publish only what is yours to share.")},
    )

    def __init__(
        self,
        companion: Companion,
        publication: Publication,
        *args: Any,
        before: GalleryVersion | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.publication = publication
        ratings = [(str(rating), rating.label) for rating in list_ratings(companion.user)]
        self.fields["rating"].choices = ratings  # type: ignore[attr-defined]
        if not publication.has_name:
            del self.fields["keeps_name"]
        if before:
            names = ("line", "summary", "language", "rating", "licence", "published_as")
            self.initial.update({name: getattr(before, name) for name in names})
            self.initial["tags"] = ", ".join(before.tags)
        else:
            self.initial["language"] = (get_language() or "en").split("-")[0]

    def clean_line(self) -> str:
        return one_line(self.cleaned_data["line"])

    def clean_published_as(self) -> str:
        return one_line(self.cleaned_data["published_as"])

    def clean_tags(self) -> list[str]:
        return clean_tags(self.cleaned_data["tags"].replace("，", ",").replace("、", ",").split(","))

    def clean(self) -> dict[str, Any]:
        """Refuse the form if what would be published has changed since the person looked at it."""
        if self.data.get("digest") != self.publication.digest:
            raise forms.ValidationError(
                _("This has changed since you looked at it: read it again below, then send it.")
            )
        return self.cleaned_data

    def focus_error(self) -> None:
        """Have the page open at the first field with an error, which on a phone is far down the page."""
        wrong = next((name for name in self.fields if name in self.errors), None)
        if wrong:
            self.fields[wrong].widget.attrs["autofocus"] = True

    @property
    def terms(self) -> Terms:
        fields = ("published_as", "line", "summary", "tags", "language", "licence", "rating")
        return Terms(**{name: self.cleaned_data[name] for name in fields})


def clean_tags(given: list[str]) -> list[str]:
    """Return the tags in lower case and without duplicates; raise ValidationError if they are too many or too long."""
    tags = list(dict.fromkeys(tag for text in given if (tag := one_line(text).casefold())))
    if len(tags) > MAX_TAGS:
        raise forms.ValidationError(_("There can be at most %(most)s tags.") % {"most": MAX_TAGS})
    if any(len(tag) > TAG_CHARACTERS for tag in tags):
        told = _("A tag can have at most %(most)s characters.") % {"most": TAG_CHARACTERS}
        raise forms.ValidationError(told)
    return tags


class ReportForm(forms.Form):
    """What somebody finds wrong with a published character."""

    kind = forms.ChoiceField(
        label=gettext_lazy("What is wrong with it?"),
        choices=GalleryReport.Kind,
        widget=forms.RadioSelect,
        error_messages={"required": gettext_lazy("Choose what is wrong with it.")},
    )
    text = forms.CharField(
        label=gettext_lazy("In your own words"),
        required=False,
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
