from celery import shared_task
from django.utils import timezone

from voice.hearing import recordings
from voice.speech import cleanup


@shared_task
def sweep_recordings() -> None:
    """Delete what was recorded and not sent within a day."""
    recordings.sweep_recordings(timezone.now())


@shared_task
def sweep_speech() -> None:
    """Drop speech that nothing holds, and what is older than KITH_SPEECH_DAYS."""
    cleanup.sweep_speech(timezone.now())
