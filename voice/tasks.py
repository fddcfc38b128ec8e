from celery import shared_task
from django.utils import timezone

from voice.hearing.leaving import sweep
from voice.speaking.leaving import sweep as drop_old_speech


@shared_task
def sweep_recordings() -> None:
    """Delete what was recorded and not sent within a day."""
    sweep(timezone.now())


@shared_task
def sweep_speech() -> None:
    """Drop speech that nothing holds, and what is older than KITH_SPEECH_DAYS."""
    drop_old_speech(timezone.now())
