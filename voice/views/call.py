"""The page on which one calls a companion."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.signed_in import SignedInRequest
from companions.life import inner_state
from companions.views.finding import my_companion
from database.threads import in_thread
from providers.transcription import is_offered
from voice.call.notice import notice
from voice.call.words import call_words
from voice.speaking.whole import read_aloud
from voice.views.answering import in_words
from voice.views.speech import sound


@require_safe
@login_required
@never_cache
def call(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = my_companion(request, companion_id)
    context = {
        "companion": companion,
        "feeling": inner_state.feeling_now(inner_state.newest(companion.pk), timezone.now()),
        "is_heard": is_offered(),
        "notice": notice(companion),
        "words": call_words(companion.name),
    }
    return render(request, "voice/call.html", context)


@require_safe
@login_required
@in_words
async def notice_aloud(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """200 with the notice as MP3; 409 where the browser is to say it."""
    companion = await in_thread(my_companion, request, companion_id)
    return sound(*await read_aloud(companion, notice(companion)))
