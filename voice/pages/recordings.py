"""Push to talk: a recording is uploaded, transcribed, checked by the person, sent, and corrected later if need be."""

import asyncio
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django_htmx.http import trigger_client_event

from accounts.authentication import SignedInRequest
from companions.access import get_companion, parse_uuid
from companions.errors import CompanionsError
from companions.events import render_saved
from companions.pages.refusals import refusals_as_json
from companions.pages.shortcuts import form_view, post_view
from companions.replies.turn import start_with
from files.uploads import read_upload
from jobs.background import in_thread
from voice.hearing import (
    add_recording,
    as_json,
    correct_recording,
    get_recording,
    send_recording,
    transcribe_recording,
    try_to_transcribe,
)
from voice.models import Recording


@post_view
@refusals_as_json
async def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Store a recording and return its transcription (201), or the reason why it could not be transcribed now."""
    companion = await in_thread(get_companion, request.user, companion_id)
    content = await asyncio.to_thread(read_upload, request, settings.AUDIO_BYTES)
    recording = await add_recording(companion, content, timezone.now())
    language = request.POST.get("language", "")
    return JsonResponse(await try_to_transcribe(recording, timezone.now, language), status=201)


@post_view
@refusals_as_json
async def transcribe(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> HttpResponse:
    """Try again to transcribe the recording, and return it."""
    recording = await in_thread(get_recording, request.user, companion_id, recording_id)
    language = request.POST.get("language", "")[:16]
    return JsonResponse(as_json(await transcribe_recording(recording, timezone.now, language)))


@post_view
@refusals_as_json
async def send(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> HttpResponse:
    """Send the recording as a message; return the frame that a socket would receive (201)."""
    recording = await in_thread(get_recording, request.user, companion_id, recording_id)
    text, client_id = request.POST.get("text", ""), request.POST.get("client_id", "")[:200] or None
    quoted = parse_uuid(request.POST["quoted"]) if request.POST.get("quoted") else None
    files = [parse_uuid(value) for value in request.POST.getlist("attachments")]
    started = await send_recording(recording, text, client_id, timezone.now, start_with(files, quoted))
    return JsonResponse(render_saved(started.message, started.reply), status=201)


@post_view
def delete(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> HttpResponse:
    """Delete the recording for good. The message that it was sent as stays, as text."""
    recording = get_recording(request.user, companion_id, recording_id)
    Recording.objects.filter(companion=companion_id, pk=recording.pk).delete()
    return _show_change(request, recording) if recording.message_id else HttpResponse(status=204)


class TranscriptForm(forms.Form):
    """The corrected text of a recording."""

    text = forms.CharField(label=_("What you said"), widget=forms.Textarea(attrs={"rows": 4}))

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")


@form_view
def correct(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> HttpResponse:
    """Show the form that corrects the text of a sent recording, and apply it."""
    recording = get_recording(request.user, companion_id, recording_id)
    if recording.message is None:
        raise Http404
    form = TranscriptForm(request.POST or None, initial={"text": recording.message.text})
    if form.is_valid():
        try:
            correct_recording(recording, form.cleaned_data["text"], timezone.now())
            return _show_change(request, recording)
        except CompanionsError as error:
            form.add_error("text", str(error.detail))
    context = {"companion": recording.companion, "recording": recording, "form": form}
    return render(request, "voice/correct.html", context, status=422 if form.is_bound else 200)


def _show_change(request: SignedInRequest, recording: Recording) -> HttpResponse:
    if not request.htmx:
        return redirect("talk", recording.companion_id)
    return trigger_client_event(HttpResponse(), "turn-changed", {"turn": str(recording.message_id)})
