"""The operators' page of what speaks and what listens: how each is set, and buttons that try it."""

from base64 import b64encode
from collections.abc import Coroutine
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import SoundCall, User
from accounts.usage import note_sound
from providers import speech, transcription
from providers.clients import run_in_background
from providers.errors import ProviderError
from providers.sound import GENERATED, SoundError, mp3, read_isolated, wav
from providers.speech import SpeechRequest, get_engine, get_engine_name

T = TypeVar("T")
Capability = SoundCall.Capability


class Sentence(forms.Form):
    """What is to be said, and with which voice."""

    text = forms.CharField(label=_("Sentence"), max_length=500)
    voice = forms.CharField(label=_("Voice"), max_length=200, required=False)


class Recorded(forms.Form):
    """What is to be listened to."""

    file = forms.FileField(label=_("A recording"))

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if (file.size or 0) > settings.AUDIO_BYTES:
            raise forms.ValidationError(_("This file is too large."))
        return file


@dataclass
class Outcome:
    """What came of a try: a sound, words, names, or what went wrong in the provider's own words."""

    deed: str
    src: str = ""
    text: str = ""
    voices: list[str] = field(default_factory=list)
    seconds: float = 0.0
    milliseconds: int = 0
    error: str = ""


def sound_desk(request: HttpRequest) -> HttpResponse:
    """The page; a POST tries what its `deed` names: say, hear or voices."""
    if not request.user.has_perm("accounts.view_soundcall"):
        raise PermissionDenied
    deed = request.POST.get("deed", "")
    forms_by_deed: dict[str, forms.Form] = {
        "say": Sentence(request.POST if deed == "say" else None, initial={"text": _("Hello, I can speak.")}),
        "hear": Recorded(*((request.POST, request.FILES) if deed == "hear" else ())),
    }
    given = forms_by_deed.get(deed)
    outcome = _try(request.user, deed, given) if given is None or given.is_valid() else None  # type: ignore[arg-type]
    context = {**admin.site.each_context(request), "outcome": outcome, "speech": _speech(), "heard": _heard()}
    context |= {"title": _("Speaking and hearing"), "sentence": forms_by_deed["say"]}
    return TemplateResponse(request, "admin/sound.html", context | {"recorded": forms_by_deed["hear"]})


def _speech() -> list[tuple[Any, str]]:
    """How speech is set, without its key."""
    speaks = get_engine()
    rows: list[tuple[Any, str]] = [(_("engine"), get_engine_name())]
    return [*rows, (_("where"), speaks.place), (_("model"), speaks.model)] if speaks else rows


def _heard() -> list[tuple[Any, str]]:
    """How transcription is set, without its key; nothing where none is."""
    where = settings.TRANSCRIPTION["base_url"]
    return [(_("where"), where), (_("model"), transcription.model())] if transcription.is_offered() else []


def _try(user: User, deed: str, given: forms.Form | None) -> Outcome | None:
    outcome, tries = Outcome(deed), {"say": _say, "hear": _hear, "voices": _voices}
    if deed not in tries:
        return None
    began = perf_counter()
    try:
        tries[deed](user, given.cleaned_data if given else {}, outcome)
    except (ProviderError, SoundError) as error:
        outcome.error = error.said or str(error)
    outcome.milliseconds = round((perf_counter() - began) * 1000)
    return outcome


def _say(user: User, told: dict[str, Any], outcome: Outcome) -> None:
    speaks = get_engine()
    wanted = SpeechRequest(told["text"], told["voice"], language=user.language or "")
    place, model = (speaks.place, speaks.model) if speaks else ("", "")
    sound = _noted(user, Capability.SPEECH, speech.synthesise(wanted), place, model, len(wanted.text))
    outcome.src = f"data:audio/mpeg;base64,{b64encode(mp3(sound, GENERATED)).decode()}"
    outcome.seconds = sound.seconds


def _hear(user: User, told: dict[str, Any], outcome: Outcome) -> None:
    sound = read_isolated(told["file"].read(), settings.AUDIO_SECONDS)
    heard = transcription.transcribe(wav(sound), language=user.language or "")
    place, model = settings.TRANSCRIPTION["base_url"], transcription.model()
    outcome.text = _noted(user, Capability.TRANSCRIPTION, heard, place, model, seconds=sound.seconds).text
    outcome.seconds = sound.seconds


def _voices(user: User, told: dict[str, Any], outcome: Outcome) -> None:
    if speaks := get_engine():
        outcome.voices = run_in_background(speaks.voices())


def _noted(
    user: User,
    capability: Capability,
    work: Coroutine[Any, Any, T],
    provider: str,
    model: str,
    characters: int = 0,
    seconds: float = 0.0,
) -> T:
    """What the provider gives; the call counts as the operator's, however it ends."""
    began_at, error = timezone.now(), None
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
            characters=characters,
            seconds=seconds,
            error=error,
            started_at=began_at,
            ended_at=timezone.now(),
        )
