"""The page on which one calls a companion."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.life import inner_state
from database.threads import in_thread
from providers.transcription import is_offered
from voice.call.texts import ai_notice, call_words
from voice.pages.refusals import refusals_as_json
from voice.speech.responses import answer_sound
from voice.speech.text_speech import speak_text


@require_safe
@login_required
@never_cache
def call(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    context = {
        "companion": companion,
        "feeling": inner_state.get_feeling_now(inner_state.get_newest(companion.pk), timezone.now()),
        "is_heard": is_offered(),
        "notice": ai_notice(companion),
        "words": call_words(companion.name),
    }
    return render(request, "voice/call.html", context)


@require_safe
@login_required
@refusals_as_json
async def notice_aloud(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """200 with the notice as MP3; 409 where the browser is to say it."""
    companion = await in_thread(get_companion, request.user, companion_id)
    return answer_sound(*await speak_text(companion, ai_notice(companion)))
