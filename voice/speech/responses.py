"""HTTP responses with sound, for pages and the API; never cached."""

from django.http import HttpResponse

from accounts.limits.admission import step_aside
from voice.speech.sound import speak_sentence
from voice.speech.spoken_text import Source
from voice.speech.synthesis import CONTENT_TYPE


async def answer_sentence(source: Source, number: int, wait_seconds: float) -> HttpResponse:
    """Return the sentence as MP3, with its offsets in the text as headers; 204 if no sentence has that number."""
    step_aside()
    speech = await speak_sentence(source, number, wait_seconds)
    if speech is None:
        return _forbid_caching(HttpResponse(status=204))
    return answer_sound(
        speech.content,
        speech.seconds,
        {
            "X-Kith-Start": str(speech.sentence.start),
            "X-Kith-End": str(speech.sentence.end),
            "X-Kith-Emotion": speech.emotion,
            "X-Kith-Intensity": str(speech.intensity),
        },
    )


def answer_sound(content: bytes, seconds: float, headers: dict[str, str] | None = None) -> HttpResponse:
    headers = {"X-Kith-Seconds": str(round(seconds, 3)), **(headers or {})}
    return _forbid_caching(HttpResponse(content, content_type=CONTENT_TYPE, headers=headers))


def _forbid_caching(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "private, no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response
