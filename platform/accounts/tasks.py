from allauth.usersessions.models import UserSession
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
    """Drop the sessions of browsers that nobody has come back with, and where they came from."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
