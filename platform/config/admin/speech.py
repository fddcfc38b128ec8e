"""The operators' page "Speaking and hearing": the settings of speech and transcription, and buttons to try them."""

from base64 import b64encode
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, TypeVar, cast

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.limits.usage import note_sound
from accounts.models import SoundCall, User
from jobs.background import release_connections
from providers import speech, transcription
from providers.errors import ProviderError
from providers.http.clients import run_in_background
from providers.sound import GENERATED, SoundError, encode_mp3, encode_wav, read_isolated
from providers.speech import SpeechRequest, get_engine, get_engine_name

T = TypeVar("T")
Capability = SoundCall.Capability


class SentenceForm(forms.Form):
    """A sentence to speak, and the voice to speak it with."""

    text = forms.CharField(label=_("Sentence"), max_length=500)
    voice = forms.CharField(label=_("Voice"), max_length=200, required=False)


class RecordingForm(forms.Form):
    """A recording to transcribe."""

    file = forms.FileField(label=_("A recording"))

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if (file.size or 0) > settings.AUDIO_BYTES:
            raise forms.ValidationError(_("This file is too large."))
        return file


@dataclass
class Outcome:
    """The result of a try: a sound, its transcript, the voices' names, or an error in the provider's own words."""

    deed: str
    src: str = ""
    text: str = ""
    voices: list[str] = field(default_factory=list)
    seconds: float = 0.0
    milliseconds: int = 0
    error: str = ""


def show_sound(request: HttpRequest) -> HttpResponse:
    """Show the page; a POST first tries what its `deed` names: say, hear or voices."""
    if not request.user.has_perm("accounts.view_soundcall"):
        raise PermissionDenied
    user, deed, outcome = cast(User, request.user), request.POST.get("deed", ""), None
    sentence = SentenceForm(
        request.POST if deed == "say" else None, initial={"text": _("Hello, I can speak.")}
    )
    recorded = RecordingForm(*((request.POST, request.FILES) if deed == "hear" else ()))
    if deed == "say" and sentence.is_valid():
        outcome = _try(deed, partial(_say, user, **sentence.cleaned_data))
    elif deed == "hear" and recorded.is_valid():
        outcome = _try(deed, partial(_hear, user, **recorded.cleaned_data))
    elif deed == "voices":
        outcome = _try(deed, _list_voices)
    # The settings of each, without its key.
    engine, speech_rows, heard_rows = get_engine(), [(_("engine"), get_engine_name())], []
    if engine:
        speech_rows += [(_("where"), engine.place), (_("model"), engine.model)]
    if transcription.is_offered():
        heard_rows = [(_("where"), transcription.get_place()), (_("model"), transcription.get_model())]
    context = {
        **admin.site.each_context(request),
        "title": _("Speaking and hearing"),
        "outcome": outcome,
        "speech": speech_rows,
        "heard": heard_rows,
        "sentence": sentence,
        "recorded": recorded,
    }
    return TemplateResponse(request, "admin/sound.html", context)


def _try(deed: str, attempt: Callable[[Outcome], None]) -> Outcome:
    outcome, began = Outcome(deed), perf_counter()
    try:
        attempt(outcome)
    except (ProviderError, SoundError) as error:
        outcome.error = error.said or str(error)
    outcome.milliseconds = round((perf_counter() - began) * 1000)
    return outcome


def _say(user: User, outcome: Outcome, *, text: str, voice: str) -> None:
    engine = get_engine()
    wanted = SpeechRequest(text, voice, language=user.language or "")
    place, model = (engine.place, engine.model) if engine else ("", "")
    sound = _note(user, Capability.SPEECH, speech.synthesise(wanted), place, model, characters=len(text))
    outcome.src = f"data:audio/mpeg;base64,{b64encode(encode_mp3(sound, GENERATED)).decode()}"
    outcome.seconds = sound.seconds


def _hear(user: User, outcome: Outcome, *, file: Any) -> None:
    sound = read_isolated(file.read(), settings.AUDIO_SECONDS)
    heard = transcription.transcribe(encode_wav(sound), language=user.language or "")
    place, model = transcription.get_place(), transcription.get_model()
    outcome.text = _note(user, Capability.TRANSCRIPTION, heard, place, model, seconds=sound.seconds).text
    outcome.seconds = sound.seconds


def _list_voices(outcome: Outcome) -> None:
    if engine := get_engine():
        outcome.voices = run_in_background(engine.voices())


def _note(
    user: User, capability: Capability, work: Coroutine[Any, Any, T], provider: str, model: str, **amount: Any
) -> T:
    """Run the provider's call and return its result; record the call as the operator's, however it ends."""
    began_at, error = timezone.now(), None
    release_connections()
    try:
        return run_in_background(work)
    except ProviderError as failed:
        error = failed
        raise
    finally:
        note_sound(
            user.pk,
            capability,
            provider=provider,
            model=model,
            error=error,
            started_at=began_at,
            ended_at=timezone.now(),
            **amount,
        )
