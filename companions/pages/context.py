"""The page that shows how a companion's prompt fills the model's context."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.models import Companion
from companions.pages.shortcuts import page_view
from companions.replies.preview import is_crowded, preview_usage


@page_view
def context(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    shown = {
        "companion": companion,
        "usage": preview_usage(companion, timezone.now()),
        "warning": warn_of_size(companion),
    }
    return render(request, "companions/context.html", shown)


def warn_of_size(companion: Companion) -> str:
    """Return a sentence where persona and examples leave no room for a talk; nothing where they do."""
    if not is_crowded(companion):
        return ""
    warning = _(
        "Persona and example dialogue fill most of what the model reads at once: %(name)s will forget within a"
        " few messages what you have just said. Shorten them, or use a model with a larger context."
    )
    return warning % {"name": companion.name}
