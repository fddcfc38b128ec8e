"""The diary: an entry for each closed session, the messages of that session, and the closing of the open one."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from accounts.authentication import SignedInRequest
from companions.access import get_companion, get_diary_entry, parse_uuid
from companions.conversations import transcript
from companions.conversations.revisions import load_citations
from companions.memories.editing import delete_entry
from companions.models import Message
from companions.pages.shortcuts import form_view, list_page, page_view
from companions.sessions.ending import STEPS, load_ending
from companions.sessions.requests import close
from memory.models import DiaryEntry

PAGE_SIZE = 20
MESSAGES_PER_PAGE = 50


@page_view
def diary(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show a page of entries, newest first, and above them the progress of the open session's closing."""
    companion = get_companion(request.user, companion_id)
    # Before the entries: of a closing that ends meanwhile, the page shows the entry or waits for it.
    ending = None if request.htmx else load_ending(companion)
    entries, following = list_page(
        [(DiaryEntry.objects.filter(companion=companion), "started_at")], request.GET.get("cursor"), PAGE_SIZE
    )
    context = {"companion": companion, "entries": entries, "following": following}
    if request.htmx:
        return render(request, "diary/_entries.html", context)
    return render(request, "diary/diary.html", context | {"ending": ending, "steps": STEPS})


@page_view
def closing(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the progress of the closing; once nothing is under way any more, have the page reloaded."""
    companion = get_companion(request.user, companion_id)
    ending = load_ending(companion)
    context = {"companion": companion, "ending": ending, "steps": STEPS}
    response = render(request, "diary/_ending.html", context)
    if not ending.is_under_way:
        response["HX-Refresh"] = "true"
    return response


@form_view
def end_session(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Ask whether to end the talk; on POST, request the closing of the open session, or retry a failed one.

    The person stays in the diary or in the talk, which shows the closing below the last message.
    """
    companion = get_companion(request.user, companion_id)
    if request.method != "POST":
        return render(request, "diary/end.html", {"companion": companion})
    said = Message.objects.filter(companion=companion).order_by("-said_at", "-id").first()
    if not close(companion, timezone.now()).total:
        messages.info(request, _("Nothing has been said since the last talk ended."))
    elif said and request.htmx:
        return trigger_client_event(
            HttpResponse(), "turn-changed", {"turn": str(transcript.find_start(said))}
        )
    if request.htmx:
        return HttpResponseClientRedirect(reverse("talk", args=[companion.pk]))
    return redirect("diary" if "from" in request.POST else "talk", companion.pk)


@form_view
def clear_session(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Ask whether to end the open session without remembering it; on POST, request that."""
    companion = get_companion(request.user, companion_id)
    if request.method != "POST":
        session = companion.sessions.filter(ended_at=None).first()
        count = Message.objects.filter(session=session).count() if session else 0
        return render(request, "diary/clear.html", {"companion": companion, "count": count})
    close(companion, timezone.now(), is_forgetful=True)
    return redirect("diary", companion.pk)


@page_view
def entry(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> HttpResponse:
    """Show an entry sentence by sentence, each with the messages that it comes from."""
    shown = get_diary_entry(request.user, companion_id, entry_id)
    sentences = load_citations(companion_id, shown.sentences)
    context = {
        "companion": get_companion(request.user, companion_id),
        "entry": shown,
        "sentences": sentences,
        "is_sourced": any(sentence.said for sentence in sentences),
        "count": Message.objects.filter(session=shown.session_id).count(),
    }
    return render(request, "diary/entry.html", context)


@page_view
def said(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> HttpResponse:
    """Show a page of the messages in the entry's session, oldest first; `?message=` opens the page of that message."""
    shown = get_diary_entry(request.user, companion_id, entry_id)
    companion = get_companion(request.user, companion_id)
    every = Message.objects.filter(session=shown.session_id).order_by("said_at", "id")
    number = request.GET.get("page")
    looked_for = None
    if "message" in request.GET:
        looked_for = every.filter(pk=parse_uuid(request.GET["message"])).first()
    if looked_for:
        number = str(every.filter(said_at__lt=looked_for.said_at).count() // MESSAGES_PER_PAGE + 1)
    lines = Paginator(every, MESSAGES_PER_PAGE).get_page(number)
    context = {"companion": companion, "entry": shown, "lines": lines, "looked_for": looked_for}
    return render(request, "diary/said.html", context)


@form_view
def delete(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> HttpResponse:
    """Ask whether to delete the entry with all messages of its session; on POST, delete it."""
    shown = get_diary_entry(request.user, companion_id, entry_id)
    companion = get_companion(request.user, companion_id)
    if request.method != "POST":
        count = Message.objects.filter(session=shown.session_id).count()
        return render(request, "diary/delete.html", {"companion": companion, "entry": shown, "count": count})
    delete_entry(companion_id, entry_id, timezone.now())
    messages.success(request, _("The entry has been deleted, along with everything that was said then."))
    return redirect("diary", companion_id)
