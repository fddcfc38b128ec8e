"""Where and how a person reads: their language and their time zone."""

from contextlib import suppress
from zoneinfo import ZoneInfoNotFoundError

import structlog
from django.utils import timezone, translation

from accounts.models import User


def activate_locale(user: User) -> None:
    """Activate this person's language and time zone from here on, and put their id on every log line.

    In a zone that this machine does not know the clock is UTC's, so that they can still choose another.
    """
    if user.language:
        translation.activate(user.language)
    with suppress(ZoneInfoNotFoundError, ValueError):
        timezone.activate(user.zone)
    structlog.contextvars.bind_contextvars(user_id=user.pk)
