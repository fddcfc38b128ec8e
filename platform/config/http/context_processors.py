"""The template context that every page has of this installation."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from providers.selection import get_provider


def platform(request: HttpRequest) -> dict[str, Any]:
    """Return KITH_SIGNUP, whether answers come from the rehearsal model, and the addresses of Kith and its operator."""
    return {
        "signup": settings.KITH_SIGNUP,
        "is_rehearsal": get_provider().is_rehearsal,
        "kith_url": settings.KITH_URL,
        "contact": settings.CONTACT,
    }
