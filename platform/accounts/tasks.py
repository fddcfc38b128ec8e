from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts import idempotency


@shared_task
def drop_old_keys() -> None:
    """Drop the Idempotency-Keys of yesterday."""
    idempotency.drop_old_keys(timezone.now())


@shared_task
def drop_old_sessions() -> None:
    """Drop the sessions of browsers that nobody has come back with."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
