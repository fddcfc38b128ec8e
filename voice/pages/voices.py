"""The page on which a companion's voice is chosen and tried, or given a recording to imitate."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from asgiref.sync import async_to_sync
from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from companions.access import get_companion
from companions.models import Companion
from companions.pages.refusals import refusals_as_json
from companions.pages.shortcuts import form_view, post_view
from files.uploads import read_upload
from jobs.background import in_thread
from voice.models import MAX_SPEED, MIN_SPEED, Voice
from voice.speech.responses import answer_sound
from voice.speech.sound import speak_text
from voice.speech.voices import CONSENT, change_voice, get_voice, load_offer, set_reference
from voice.speech.voices import delete_reference as remove_reference


class VoiceForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings of a voice. Its choices are the engine's voices and the one that was chosen before."""

    class Meta:
        model = Voice
        fields = ("name", "speed", "reads_aloud")
        labels: ClassVar[dict[str, Any]] = {"reads_aloud": gettext_lazy("Read answers aloud as they arrive")}
        widgets: ClassVar[dict[str, Any]] = {
            "speed": forms.NumberInput(
                attrs={"type": "range", "min": MIN_SPEED, "max": MAX_SPEED, "step": 0.05, "list": "speeds"}
            )
        }

    def __init__(self, *args: Any, voices: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [name for name in dict.fromkeys([*voices, self.instance.name]) if name]
        choices = [("", gettext_lazy("The usual voice")), *((name, name) for name in names)]
        self.fields["name"] = forms.ChoiceField(label=gettext_lazy("Voice"), choices=choices, required=False)
        if not names:
            del self.fields["name"]


class ReferenceForm(forms.Form):
    """A recording for the voice to imitate. Its content is validated by `set_reference`, not here."""

    file = forms.FileField(
        label=gettext_lazy("Recording"),
        widget=forms.ClearableFileInput(attrs={"accept": "audio/*"}),
        help_text=gettext_lazy("One clear voice, without music; ten seconds are enough."),
    )
    text = forms.CharField(
        label=gettext_lazy("What is said in it"),
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Word for word: most engines imitate better with it."),
    )
    consent = forms.BooleanField(
        label=CONSENT,
        error_messages={"required": gettext_lazy("First confirm that the owner of this voice has agreed.")},
    )


@form_view
def voice(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    if request.method != "POST":
        return _render(request, companion)
    offered = async_to_sync(load_offer)()
    form = VoiceForm(request.POST, instance=get_voice(companion), voices=offered.voices)
    if not form.is_valid():
        return _render(request, companion, form=form)
    change_voice(companion, **form.cleaned_data)
    messages.success(request, _("Saved."))
    return redirect("voice", companion_id)


@post_view
def reference(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Save a recording for the voice to imitate."""
    companion = get_companion(request.user, companion_id)
    form = ReferenceForm(request.POST, request.FILES)
    if not form.is_valid():
        return _render(request, companion, reference_form=form)
    try:
        content = read_upload(request, settings.AUDIO_BYTES)
        set_reference(companion, content, form.cleaned_data["text"], str(CONSENT), timezone.now())
    except RefusedError as error:
        form.add_error("file", str(error.detail))
        return _render(request, companion, reference_form=form)
    messages.success(request, _("The recording is saved, and will be imitated from now on."))
    return redirect("voice", companion_id)


@post_view
def reference_delete(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    remove_reference(get_companion(request.user, companion_id))
    messages.success(request, _("The recording has been deleted."))
    return redirect("voice", companion_id)


@post_view
def reads_aloud(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Switch the reading aloud of answers on (`reads_aloud=yes`) or off."""
    change_voice(
        get_companion(request.user, companion_id), reads_aloud=request.POST.get("reads_aloud") == "yes"
    )
    return HttpResponse(status=204)


@post_view
@refusals_as_json
async def sample(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Return a sample sentence as MP3, in the voice that the form describes."""
    companion = await in_thread(get_companion, request.user, companion_id)
    trial = await in_thread(_read_trial, request, companion)
    words = _("Hello, I am %(name)s. This is how I sound when I read something to you.")
    return answer_sound(*await speak_text(companion, words % {"name": companion.name}, trial))


def _read_trial(request: SignedInRequest, companion: Companion) -> Voice:
    """Return the companion's voice with the valid fields of the form, unsaved."""
    trial = get_voice(companion)
    form = VoiceForm(request.POST, instance=get_voice(companion), voices=[request.POST.get("name", "")[:200]])
    form.is_valid()
    for name, value in form.cleaned_data.items():
        setattr(trial, name, value)
    return trial


def _render(
    request: SignedInRequest,
    companion: Companion,
    form: VoiceForm | None = None,
    reference_form: ReferenceForm | None = None,
) -> HttpResponse:
    offered, chosen = async_to_sync(load_offer)(), get_voice(companion)
    form = form or VoiceForm(instance=chosen, voices=offered.voices)
    reference_form = reference_form or ReferenceForm()
    context = {
        "companion": companion,
        "offer": offered,
        "voice": chosen,
        "form": form,
        "reference_form": reference_form,
    }
    status = 422 if form.is_bound or reference_form.is_bound else 200
    return render(request, "voice/voice.html", context, status=status)
