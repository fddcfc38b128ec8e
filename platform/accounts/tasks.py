from allauth.usersessions.models import UserSession
from celery import shared_task
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts import idempotency


@shared_task
def drop_old_keys() -> None:
    """Delete the idempotency keys that are older than a day."""
    idempotency.drop_old_keys(timezone.now())


@shared_task
def drop_old_sessions() -> None:
    """Delete expired sessions, and the records of devices whose session is gone."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
