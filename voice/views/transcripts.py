"""What was heard in a recording, put right; and the recording without its message."""

import json
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.signed_in import SignedInRequest
from companions.errors import CompanionsError
from voice.hearing import correcting
from voice.models import Recording
from voice.views.finding import my_recording

UNPROCESSABLE = 422


@require_POST
@login_required
def drop(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> HttpResponse:
    """Delete the sound for good; a message that it became stays, as text."""
    recording = my_recording(request.user, companion_id, recording_id)
    Recording.objects.filter(companion=companion_id, pk=recording.pk).delete()
    return _changed(request, recording) if recording.message_id else HttpResponse(status=204)


class TranscriptForm(forms.Form):
    """What was said, in words."""

    text = forms.CharField(label=_("What you said"), widget=forms.Textarea(attrs={"rows": 4}))

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def correct(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> HttpResponse:
    """Show what was heard in a recording that was sent, to be put right; then do it."""
    recording = my_recording(request.user, companion_id, recording_id)
    if recording.message is None:
        raise Http404
    form = TranscriptForm(request.POST or None, initial={"text": recording.message.text})
    if form.is_valid():
        try:
            correcting.correct(recording, form.cleaned_data["text"], timezone.now())
            return _changed(request, recording)
        except CompanionsError as error:
            form.add_error("text", str(error.detail))
    context = {"companion": recording.companion, "recording": recording, "form": form}
    return render(request, "voice/correct.html", context, status=UNPROCESSABLE if form.is_bound else 200)


def _changed(request: SignedInRequest, recording: Recording) -> HttpResponse:
    if not request.headers.get("HX-Request"):
        return redirect("talk", recording.companion_id)
    message = str(recording.message_id)
    changed = {"talk-changed": {"message": message, "becomes": message}}
    return HttpResponse(headers={"HX-Trigger": json.dumps(changed)})
