"""Sentences of replies and messages as sound, also while a reply is generated."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from companions.pages.refusals import refusals_as_json
from jobs.background import in_thread
from voice.speech.responses import answer_sentence
from voice.speech.spoken_text import WAIT_TIMEOUT_SECONDS, get_spoken_message, get_spoken_reply


@require_safe
@login_required
@refusals_as_json
async def of_reply(request: SignedInRequest, companion_id: UUID, reply_id: UUID, number: int) -> HttpResponse:
    reply = await in_thread(get_spoken_reply, request.user, companion_id, reply_id)
    return await answer_sentence(reply, number, _read_wait(request))


@require_safe
@login_required
@refusals_as_json
async def of_message(
    request: SignedInRequest, companion_id: UUID, message_id: UUID, number: int
) -> HttpResponse:
    source = await in_thread(get_spoken_message, request.user, companion_id, message_id)
    return await answer_sentence(source, number, _read_wait(request))


def _read_wait(request: SignedInRequest) -> float:
    """Return for how many seconds to wait for the sentence: `?wait=`, at most WAIT_TIMEOUT_SECONDS."""
    wait = request.GET.get("wait", "")
    return min(float(wait), WAIT_TIMEOUT_SECONDS) if wait.isdecimal() else WAIT_TIMEOUT_SECONDS
