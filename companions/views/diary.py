"""The diary: an entry for each session that has ended, what was said in it, and the end of the one that is open."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.signed_in import SignedInRequest
from companions.api.cursor import CursorError, PageIn, page
from companions.diary import STEPS, delete_entry, ending
from companions.models import Companion, Message
from companions.sessions import close
from companions.told import told
from companions.views.finding import my_companion
from memory.models import DiaryEntry

PAGE = 20
SAID = 50
require_form = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@login_required
@never_cache
def diary(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """The entries, newest first by pages, and above them how far the end of the open session is."""
    companion = my_companion(request, companion_id)
    try:
        asked = PageIn(limit=PAGE, cursor=request.GET.get("cursor") or None)
        entries, following = page(DiaryEntry.objects.filter(companion=companion), "started_at", asked)
    except (CursorError, ValueError) as error:
        raise Http404 from error
    context = {"companion": companion, "entries": entries, "following": following}
    if request.headers.get("HX-Request"):
        return render(request, "diary/_entries.html", context)
    return render(request, "diary/diary.html", context | _ending(companion))


def _ending(companion: Companion) -> dict[str, object]:
    return {"ending": ending(companion), "steps": STEPS}


@require_safe
@login_required
@never_cache
def closing(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """How far the end of the session is; once nothing is under way any more, the page is loaded anew."""
    companion = my_companion(request, companion_id)
    context = {"companion": companion, **_ending(companion)}
    response = render(request, "diary/_ending.html", context)
    if not context["ending"].is_under_way:  # type: ignore[attr-defined]
        response["HX-Refresh"] = "true"
    return response


@require_POST
@login_required
def end_session(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Ask for the end of the open session, or for another try at it."""
    companion = my_companion(request, companion_id)
    job = close(companion, timezone.now())
    if not job.total:
        messages.info(request, _("Nothing has been said since the last session."))
    return redirect("diary", companion.pk)


@require_form
@login_required
@never_cache
def clear_session(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Ask whether to end the open session without remembering; then ask for that."""
    companion = my_companion(request, companion_id)
    if request.method != "POST":
        session = companion.sessions.filter(ended_at=None).first()
        count = Message.objects.filter(session=session).count() if session else 0
        return render(request, "diary/clear.html", {"companion": companion, "count": count})
    close(companion, timezone.now(), is_forgetful=True)
    return redirect("diary", companion.pk)


@require_safe
@login_required
@never_cache
def entry(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> HttpResponse:
    """One entry, sentence by sentence, each with what it comes from."""
    shown = _my_entry(request, companion_id, entry_id)
    sentences = told(companion_id, shown.sentences)
    context = {
        "companion": my_companion(request, companion_id),
        "entry": shown,
        "sentences": sentences,
        "is_sourced": any(one.said for one in sentences),
        "count": Message.objects.filter(session=shown.session_id).count(),
    }
    return render(request, "diary/entry.html", context)


@require_safe
@login_required
@never_cache
def said(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> HttpResponse:
    """What was said in the entry's session, word for word, oldest first by pages; `?message=` opens the page of one."""
    shown, companion = _my_entry(request, companion_id, entry_id), my_companion(request, companion_id)
    every = Message.objects.filter(session=shown.session_id).order_by("said_at", "id")
    number = request.GET.get("page")
    looked_for = every.filter(pk=_uuid(request.GET["message"])).first() if "message" in request.GET else None
    if looked_for:
        number = str(every.filter(said_at__lt=looked_for.said_at).count() // SAID + 1)
    lines = Paginator(every, SAID).get_page(number)
    context = {"companion": companion, "entry": shown, "lines": lines, "looked_for": looked_for}
    return render(request, "diary/said.html", context | {"today": timezone.localdate()})


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Http404 from error


@require_form
@login_required
@never_cache
def delete(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> HttpResponse:
    """Ask whether to delete the entry with everything said in its session; then do it."""
    shown, companion = _my_entry(request, companion_id, entry_id), my_companion(request, companion_id)
    if request.method != "POST":
        count = Message.objects.filter(session=shown.session_id).count()
        return render(request, "diary/delete.html", {"companion": companion, "entry": shown, "count": count})
    delete_entry(companion_id, entry_id, timezone.now())
    messages.success(request, _("The entry is deleted, with everything that was said then."))
    return redirect("diary", companion_id)


def _my_entry(request: SignedInRequest, companion_id: UUID, entry_id: UUID) -> DiaryEntry:
    mine = DiaryEntry.objects.owned_by(request.user).filter(companion=companion_id)
    return get_object_or_404(mine, pk=entry_id)
