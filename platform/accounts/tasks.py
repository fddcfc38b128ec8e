from celery import shared_task
from django.utils import timezone

from accounts import idempotency


@shared_task
def drop_old_keys() -> None:
    """Drop the Idempotency-Keys of yesterday."""
    idempotency.drop_old_keys(timezone.now())
