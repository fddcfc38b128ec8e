"""A sentence of what was said, or is being said, as sound."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.shares import step_aside
from accounts.signed_in import SignedInRequest
from database.threads import in_thread
from voice.speaking import Aloud, speech_of
from voice.speaking.following import WAIT_SECONDS, Thing
from voice.speaking.making import CONTENT_TYPE
from voice.views.answering import in_words
from voice.views.finding import my_reply, my_said


@require_safe
@login_required
@in_words
async def of_reply(request: SignedInRequest, companion_id: UUID, reply_id: UUID, number: int) -> HttpResponse:
    reply = await in_thread(my_reply, request.user, companion_id, reply_id)
    return await answered(reply, number, _wait(request))


@require_safe
@login_required
@in_words
async def of_message(
    request: SignedInRequest, companion_id: UUID, message_id: UUID, number: int
) -> HttpResponse:
    said = await in_thread(my_said, request.user, companion_id, message_id)
    return await answered(said, number, _wait(request))


def _wait(request: SignedInRequest) -> float:
    """How long the sentence is waited for: `?wait=` seconds, at most a minute."""
    asked = request.GET.get("wait", "")
    return min(float(asked), WAIT_SECONDS) if asked.isdecimal() else WAIT_SECONDS


async def answered(thing: Thing, number: int, wait_seconds: float) -> HttpResponse:
    """200 with the sentence as MP3; 204 where all is said before it. The place in the text counts in characters."""
    step_aside()
    aloud = await speech_of(thing, number, wait_seconds)
    return sounded(aloud) if aloud else kept_by_nobody(HttpResponse(status=204))


def sounded(aloud: Aloud) -> HttpResponse:
    told = {
        "X-Kith-Start": aloud.sentence.start,
        "X-Kith-End": aloud.sentence.end,
        "X-Kith-Seconds": round(aloud.seconds, 3),
        "X-Kith-Emotion": aloud.emotion,
        "X-Kith-Intensity": aloud.intensity,
    }
    headers = {name: str(value) for name, value in told.items()}
    return kept_by_nobody(HttpResponse(aloud.content, content_type=CONTENT_TYPE, headers=headers))


def sound(content: bytes, seconds: float) -> HttpResponse:
    """A sound that stands for no sentence."""
    headers = {"X-Kith-Seconds": str(round(seconds, 3))}
    return kept_by_nobody(HttpResponse(content, content_type=CONTENT_TYPE, headers=headers))


def kept_by_nobody(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "private, no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response
