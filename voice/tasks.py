from celery import shared_task
from django.utils import timezone

from voice import hearing
from voice.speech import cache


@shared_task
def sweep_recordings() -> None:
    """Delete what was recorded and not sent within a day."""
    hearing.sweep_recordings(timezone.now())


@shared_task
def sweep_speech() -> None:
    """Drop speech that nothing holds, and what is older than KITH_SPEECH_DAYS."""
    cache.sweep_speech(timezone.now())
