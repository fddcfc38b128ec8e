"""Settings that have bounds."""

from datetime import timedelta

from django.core.exceptions import ImproperlyConfigured

LAWFUL_MINUTES = 180


def break_after(minutes: int) -> timedelta:
    """How long somebody may talk before a break is proposed: at most three hours, as the law asks."""
    if not 1 <= minutes <= LAWFUL_MINUTES:
        raise ImproperlyConfigured(
            f"KITH_BREAK_MINUTES is {minutes}; it must be a number from 1 to {LAWFUL_MINUTES}."
        )
    return timedelta(minutes=minutes)
