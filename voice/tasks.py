from celery import shared_task
from django.utils import timezone

from voice.hearing.leaving import sweep


@shared_task
def sweep_recordings() -> None:
    """Delete what was recorded and not sent within a day."""
    sweep(timezone.now())
