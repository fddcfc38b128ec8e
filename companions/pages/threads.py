"""What is open between the two, ended and opened again by the person; it is shown beside the goals."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from companions.access import get_thread
from companions.memories import threads
from companions.pages.shortcuts import post_view
from memory.models import Thread


@post_view
def change(request: SignedInRequest, companion_id: UUID, thread_id: UUID) -> HttpResponse:
    """Settle it, let it be, or open it again: the `state` that was pressed."""
    thread = get_thread(request.user, companion_id, thread_id)
    state = request.POST.get("state", "")
    if state in Thread.State.values:
        threads.set_state(thread, Thread.State(state), timezone.now())
        messages.success(request, _("Saved."))
    else:
        messages.error(request, _("Choose whether it is settled, dropped or open."))
    return redirect(f"{reverse('pursuits', args=[companion_id])}#threads")
