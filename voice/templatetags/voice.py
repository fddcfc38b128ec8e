"""Template tags and filters for speech and recordings."""

from typing import Any

from django import template
from django.conf import settings
from django.utils.translation import gettext as _

from companions.models import Companion
from providers.transcription import is_offered
from voice.models import Voice

register = template.Library()
MINUTE = 60


@register.filter
def as_length(seconds: float) -> str:
    """Format a number of seconds as minutes and seconds, such as 1:05."""
    minutes, rest = divmod(int(seconds), MINUTE)
    return f"{minutes}:{rest:02}"


@register.simple_tag
def offers_calls() -> bool:
    """Return whether a companion can be called here, i.e. whether the person's voice can be understood."""
    return is_offered()


@register.inclusion_tag("voice/_reads_aloud.html")
def reads_aloud(companion: Companion) -> dict[str, object]:
    """Render the chat's switch for reading answers aloud as they come."""
    is_on = Voice.objects.filter(companion=companion, reads_aloud=True).exists()
    return {"companion": companion, "is_on": is_on}


@register.inclusion_tag("voice/_hearing.html")
def hearing(companion: Companion) -> dict[str, Any]:
    """Render the line above the composer that shows the state of a recording."""
    return {
        "companion": companion,
        "transcribes": is_offered(),
        "seconds": settings.AUDIO_SECONDS,
        "words": hearing_words(),
    }


def hearing_words() -> dict[str, str]:
    """Return the texts that the scripts show, by key; some keys are the names of browsers' errors."""
    forbidden = _(
        "Kith is not allowed to use the microphone. Allow it for this page in your browser, then try again."
    )
    none = _("No microphone was found. Connect one, then try again.")
    return {
        "recording": _("Recording. Press again to end."),
        "listening": _("Listening. Press again to end."),
        "hearing": _("Finding the words…"),
        "read_through": _("Read it through, then send it."),
        "too_short": _(
            "That was very short. Hold the button while you speak, or press it once to start and again"
            " to stop."
        ),
        "not_brought": _(
            "The recording could not be sent to Kith. It is kept here until you leave this page."
        ),
        "not_recognised": _("The browser could not recognise it. Try again, or type."),
        "again": _("Try again"),
        "go_on": _("Continue"),
        "discard": _("Discard"),
        "without": _("Remove the recording"),
        "no_microphone": _("The microphone cannot be used right now."),
        "no_recorder": _(
            "This browser does not let pages use the microphone here. Open Kith over https to use it."
        ),
        "no_recognition": _(
            "This browser cannot recognise speech, and no transcription service is connected here."
            " Type it instead."
        ),
        "goes_out": _(
            "Your browser will recognise what you say. Most browsers send the sound to their maker for this."
        ),
        "NotAllowedError": forbidden,
        "not-allowed": forbidden,
        "service-not-allowed": forbidden,
        "NotFoundError": none,
        "audio-capture": none,
        "NotReadableError": _("Another program is using the microphone."),
        "network": _("The browser's speech recognition cannot be reached right now. What was heard is kept."),
        "language-not-supported": _("The browser does not recognise this language."),
    }
