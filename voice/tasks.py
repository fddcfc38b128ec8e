"""Celery's tasks of voice."""

from celery import shared_task
from django.utils import timezone

from voice import hearing
from voice.speech import cache


@shared_task
def sweep_recordings() -> None:
    """Delete recordings that were not sent within a day."""
    hearing.sweep_recordings(timezone.now())


@shared_task
def sweep_speech() -> None:
    """Delete speech that is unused or older than KITH_SPEECH_DAYS."""
    cache.sweep_speech(timezone.now())
