"""Forms of a companion's voice."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from voice.choosing import CONSENT, FIELDS
from voice.models import Voice
from voice.models.voice import FASTEST, SLOWEST


class VoiceForm(forms.ModelForm):  # type: ignore[type-arg]
    """How a companion sounds, from the voices that the engine has; one chosen earlier stays choosable."""

    class Meta:
        model = Voice
        fields = FIELDS
        labels: ClassVar[dict[str, Any]] = {"reads_aloud": _("Read answers aloud as they come")}
        widgets: ClassVar[dict[str, Any]] = {
            "speed": forms.NumberInput(
                attrs={"type": "range", "min": SLOWEST, "max": FASTEST, "step": 0.05, "list": "speeds"}
            )
        }

    def __init__(self, *args: Any, voices: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [name for name in dict.fromkeys([*voices, self.instance.name]) if name]
        choices = [("", _("The engine's own")), *((name, name) for name in names)]
        self.fields["name"] = forms.ChoiceField(label=_("Voice"), choices=choices, required=False)
        if not names:
            del self.fields["name"]


class ReferenceForm(forms.Form):
    """A recording that the voice is to imitate. Its content is judged where it is taken in, not here."""

    file = forms.FileField(
        label=_("Recording"),
        widget=forms.ClearableFileInput(attrs={"accept": "audio/*"}),
        help_text=_("One voice, clear, without music: ten seconds are enough."),
    )
    text = forms.CharField(
        label=_("What is said in it"),
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Word for word: most engines imitate better with it."),
    )
    consent = forms.BooleanField(
        label=CONSENT,
        error_messages={"required": _("Say first that the owner of this voice has agreed.")},
    )

    @property
    def most_seconds(self) -> int:
        return int(settings.REFERENCE_SECONDS)
