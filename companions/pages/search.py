"""The search in the talk, and the bookmarked messages."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django_htmx.http import trigger_client_event

from accounts.authentication import SignedInRequest
from companions.access import get_companion, get_message
from companions.conversations.bookmarks import list_bookmarks, remove_bookmark, set_bookmark
from companions.conversations.markdown import read_plainly
from companions.conversations.search import MAX_CHARACTERS, Part, read_query, search
from companions.errors import SearchError
from companions.models import Companion, Message
from companions.pages.shortcuts import list_page, page_view, post_view, read_page
from text.strings import shorten

PAGE_SIZE = 20
SHOWN_CHARACTERS = 240


@page_view
def search_talk(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show a page of all messages, newest first, or of those with the words in `?q=`; in the talk it is a dialog."""
    companion = get_companion(request.user, companion_id)
    text = request.GET.get("q", "").strip()
    cursor = request.GET.get("cursor")
    context = _find(companion, text, cursor) if text else _list_all(companion, cursor)
    context |= {"companion": companion, "text": text[:MAX_CHARACTERS], "limit": MAX_CHARACTERS}
    is_part = request.htmx and request.htmx.target in ("found", "more-found")
    return render(request, "search/_found.html" if is_part else "search/search.html", context)


def _find(companion: Companion, text: str, cursor: str | None) -> dict[str, Any]:
    try:
        query = read_query(companion.pk, text)
    except SearchError as error:
        return {"problem": str(error.detail)}
    messages, following = read_page(lambda page: search(companion, query, page), cursor, PAGE_SIZE)
    found = [(message, query.cut_snippet(read_plainly(message))) for message in messages]
    return {"found": found, "following": following}


def _list_all(companion: Companion, cursor: str | None) -> dict[str, Any]:
    """Return a page of all messages, newest first, which the page shows before a search."""
    said, following = list_page([(Message.objects.filter(companion=companion), "said_at")], cursor, PAGE_SIZE)
    found = [(message, [Part(shorten(read_plainly(message), SHOWN_CHARACTERS), False)]) for message in said]
    return {"found": found, "following": following}


@page_view
def bookmarks(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show a page of the bookmarked messages, newest bookmark first."""
    companion = get_companion(request.user, companion_id)
    listed, following = list_page(
        [(list_bookmarks(companion), "made_at")], request.GET.get("cursor"), PAGE_SIZE
    )
    context = {"companion": companion, "bookmarks": listed, "following": following}
    return render(request, "search/bookmarks.html", context)


@post_view
def bookmark(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> HttpResponse:
    """Bookmark a message, or with `remove` delete its bookmark."""
    message = get_message(request.user, companion_id, message_id)
    if "remove" in request.POST:
        remove_bookmark(message)
    else:
        set_bookmark(message, timezone.now())
    if request.htmx:
        changed = {"message": str(message_id)}
        return trigger_client_event(HttpResponse(status=204), "bookmark-changed", changed)
    return redirect("bookmarks", companion_id)
