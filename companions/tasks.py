from celery import shared_task
from django.conf import settings
from django.utils import timezone

from companions.models import Prompt


@shared_task
def drop_old_prompts() -> None:
    """Drop the prompts as sent that are older than thirty days."""
    Prompt.objects.filter(created_at__lt=timezone.now() - settings.PROMPTS_KEPT).delete()
