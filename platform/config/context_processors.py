"""What every page knows of the platform it stands on."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from providers.selection import get_provider


def platform(request: HttpRequest) -> dict[str, Any]:
    """Return whether people may sign up, whether answers come from the rehearsal model, and Kith's address."""
    return {
        "signup": settings.KITH_SIGNUP,
        "is_rehearsal": get_provider().is_rehearsal,
        "kith_url": settings.KITH_URL,
    }
