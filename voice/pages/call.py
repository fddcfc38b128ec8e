"""The page of a call with a companion."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.life import inner_state
from companions.models import Companion
from companions.pages.refusals import refusals_as_json
from companions.pages.shortcuts import page_view
from jobs.background import in_thread
from providers.transcription import is_offered
from voice.speech.responses import answer_sound
from voice.speech.sound import speak_text


def ai_notice(companion: Companion) -> str:
    """Return the notice that the companion is an AI, which is both shown and read aloud."""
    return _("%(name)s is an AI, not a person.") % {"name": companion.name}


def call_words(name: str) -> dict[str, str]:
    """Return the texts that the scripts put on the page, by key."""
    who = {"name": name}
    return {
        "opening": _("One moment…"),
        "listening": _("%(name)s is listening") % who,
        "hearing": _("%(name)s hears you") % who,
        "understanding": _("One moment…"),
        "thinking": _("%(name)s is thinking") % who,
        "speaking": _("%(name)s is speaking") % who,
        "muted": _("Your microphone is off"),
        "ended": _("The call has ended. Everything that was said is in the talk."),
        "reconnecting": _("The call was cut off. Reconnecting…"),
        "signed_out": _("You are signed out. Sign in again to go on."),
        "gone": _("This companion no longer exists."),
        "too_fast": _("That was very fast. Continuing in a moment."),
        "denied": _(
            "Your browser does not let this page use the microphone. Allow it in the browser, then call"
            " again."
        ),
        "no_microphone": _("No microphone was found. Connect one, then call again."),
        "in_use": _("Another program is using the microphone. Close it, then call again."),
        "insecure": _("Browsers let only https pages use the microphone. Ask the operator of this Kith."),
        "lost": _("The microphone was disconnected. Reconnect it, then call again."),
        "elsewhere": _(
            "The call has ended here, since you began one in another window or on another device."
        ),
        "partly": _("The call has ended. What was said is in the talk, except for what did not get through."),
        "last": _("The call has ended. What you said last will be in the talk in a moment."),
        "unheard": _(
            "The call has ended. What you said last did not get through; everything before it is in the talk."
        ),
        "voiceless": _("This could not be read aloud; you can read it here."),
        "failed": _("That did not work. Try again in a moment."),
        "mute": _("Mute yourself"),
        "unmute": _("Unmute yourself"),
        "you": _("You"),
        "companion": name,
    }


@page_view
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
    """Return the AI notice as MP3; 409 if the browser has to read it."""
    companion = await in_thread(get_companion, request.user, companion_id)
    return answer_sound(*await speak_text(companion, ai_notice(companion)))
