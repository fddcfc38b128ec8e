"""The form for what a companion knows of its user, or thinks of itself."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from memory.models import Revision
from memory.models.revision import MOST_SENTENCES, SENTENCE_CHARACTERS
from text.storable import is_storable

MAX_CHARACTERS = 2 * MOST_SENTENCES * SENTENCE_CHARACTERS


class SentencesForm(forms.Form):
    """Sentences, one a line; `sentences` are those that are not blank.

    `before` is the number of the revision that holds, to be sent along: what was changed may be an earlier one.
    """

    text = forms.CharField(
        label=gettext_lazy("One sentence a line"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "class": "diary-words"}),
    )

    def __init__(self, before: Revision | None, data: Any = None) -> None:
        self.before = before.number if before else 0
        super().__init__(data, initial={"text": before.text if before else ""})
        self.fields["text"].help_text = _("At most %(most)d sentences of %(characters)d characters.") % {
            "most": MOST_SENTENCES,
            "characters": SENTENCE_CHARACTERS,
        }

    @property
    def sentences(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["text"].splitlines() if line.strip()]

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        wrong = [_too_long(n, line) for n, line in enumerate(lines, 1) if len(line) > SENTENCE_CHARACTERS]
        if len(lines) > MOST_SENTENCES:
            told = _("There are %(count)d sentences; there is room for %(most)d.")
            wrong.insert(0, told % {"count": len(lines), "most": MOST_SENTENCES})
        if not is_storable(text):
            wrong.append(_("This holds characters that are not text."))
        if wrong:
            raise forms.ValidationError(wrong)
        return text

    def clean(self) -> dict[str, Any]:
        """Where another revision holds by now than the one that was changed here, the person looks again."""
        if self.data.get("number") != str(self.before):
            raise forms.ValidationError(
                _("It was changed meanwhile. What you wrote stands here still; save it once more to keep it.")
            )
        return self.cleaned_data


def _too_long(number: int, sentence: str) -> str:
    more = len(sentence) - SENTENCE_CHARACTERS
    told = ngettext(
        "Sentence %(number)d is %(more)d character too long: “%(begin)s…”",
        "Sentence %(number)d is %(more)d characters too long: “%(begin)s…”",
        more,
    )
    return told % {"number": number, "more": more, "begin": sentence[:40]}
