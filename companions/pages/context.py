"""The advanced settings: the notes of the talk, links to further pages, and what the prompt takes of the context."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.models import Companion
from companions.pages.shortcuts import page_view
from companions.replies.preview import is_crowded, preview_usage
from companions.tools.subjects.core_memory import MAX_SCRATCH_CHARACTERS


@page_view
def advanced(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show links to the pages that few people need, and the companion's notes (scratch) in the open session."""
    companion = get_companion(request.user, companion_id)
    notes = companion.sessions.filter(ended_at=None).values_list("scratch", flat=True).first() or ""
    shown = {"companion": companion, "notes": notes, "most": MAX_SCRATCH_CHARACTERS}
    return render(request, "companions/advanced.html", shown)


@page_view
def context(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show what the next prompt would take of the context, and a warning if there is no room for the talk."""
    companion = get_companion(request.user, companion_id)
    shown = {
        "companion": companion,
        "usage": preview_usage(companion, timezone.now()),
        "warning": warn_of_size(companion),
    }
    return render(request, "companions/context.html", shown)


def warn_of_size(companion: Companion) -> str:
    """Return a warning if persona and example dialogue leave no room for a talk, otherwise ""."""
    if not is_crowded(companion):
        return ""
    warning = _(
        "The persona and example dialogue fill most of what the model can read at once: %(name)s will forget"
        " what you have just said within a few messages. Shorten them, or use a model with a larger context."
    )
    return warning % {"name": companion.name}


def show_size_warning(request: SignedInRequest, companion: Companion) -> None:
    """Show the warning, if there is one, on the next page."""
    if warning := warn_of_size(companion):
        messages.warning(request, warning)
