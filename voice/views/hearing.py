"""Push to talk: a recording comes, is heard, is read through, and becomes a message."""

import asyncio
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts.gate import GateError
from accounts.signed_in import SignedInRequest
from companions.replies import frames
from companions.views.finding import my_companion
from database.threads import in_thread
from files.uploading import uploaded
from voice.errors import HearingError
from voice.hearing import sending, taking, transcribing
from voice.hearing.showing import shown
from voice.models import Recording
from voice.views.answering import in_words
from voice.views.finding import my_recording


@require_POST
@login_required
@in_words
async def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """201 with what was heard; also where nothing could be heard now, with why: the recording is kept."""
    companion = await in_thread(my_companion, request, companion_id)
    content = await asyncio.to_thread(uploaded, request, settings.AUDIO_BYTES)
    recording = await taking.take(companion, content, timezone.now())
    return JsonResponse(await heard(recording, request.POST.get("language", "")), status=201)


async def heard(recording: Recording, language: str = "") -> dict[str, object]:
    """The recording as JSON, transcribed; where that cannot be, with the reason."""
    try:
        return shown(await transcribing.transcribe(recording, timezone.now, language[:16]))
    except (HearingError, GateError) as error:
        return shown(recording, error)


@require_POST
@login_required
@in_words
async def transcribe(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> HttpResponse:
    """Try again to hear what is in it."""
    recording = await in_thread(my_recording, request.user, companion_id, recording_id)
    again = await transcribing.transcribe(recording, timezone.now, request.POST.get("language", "")[:16])
    return JsonResponse(shown(again))


@require_POST
@login_required
@in_words
async def send(request: SignedInRequest, companion_id: UUID, recording_id: UUID) -> HttpResponse:
    """201 with the frame that a socket would have had."""
    recording = await in_thread(my_recording, request.user, companion_id, recording_id)
    text, client_id = request.POST.get("text", ""), request.POST.get("client_id", "")[:200] or None
    started = await sending.send(recording, text, client_id, timezone.now)
    return JsonResponse(frames.saved(started), status=201)
