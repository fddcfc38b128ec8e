"""The share target for other apps: the person chooses a companion, and the text is put in the composer, unsent."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.authentication import SignedInRequest
from companions.models import Companion
from companions.pages.shortcuts import page_view

PARAMETERS = ("title", "text", "url")  # as named in the web app manifest


@page_view
def share(request: SignedInRequest) -> HttpResponse:
    companions = Companion.objects.owned_by(request.user).order_by("name")
    return render(request, "share.html", {"companions": companions, "shared": join_shared(request)})


def join_shared(request: HttpRequest) -> str:
    """Return what was shared as one text, no longer than a message. A part that an earlier one contains is left out."""
    parts: list[str] = []
    for name in PARAMETERS:
        part = request.GET.get(name, "").replace("\0", "").strip()
        if part and not any(part in earlier for earlier in parts):
            parts.append(part)
    return "\n".join(parts)[: settings.MESSAGE_CHARACTERS]
