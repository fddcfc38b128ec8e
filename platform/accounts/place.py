"""Where and how a person reads: their language and their time zone."""

import structlog
from django.utils import timezone, translation

from accounts.models import User


def enter(user: User) -> None:
    """Speak this person's language and clock from here on, and put their id on every log line."""
    if user.language:
        translation.activate(user.language)
    timezone.activate(user.zone)
    structlog.contextvars.bind_contextvars(user_id=user.pk)
