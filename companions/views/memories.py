import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.gate import admit_work
from accounts.signed_in import SignedInRequest
from companions import deletion, retractions
from companions.api.cursor import CursorError, PageIn, page
from companions.cues import vector_of
from companions.forms import MemoryForm, MemoryTextForm
from companions.models import Companion
from companions.private import hides_sources, keep_private
from companions.views.finding import my_companion, my_memory
from memory.among import Among
from memory.errors import AlwaysError, UndoError
from memory.keeping import correct, keep_fact
from memory.models import Memory
from memory.recall import recall
from memory.text import is_storable

PAGE = 30
PINNED, PRIVATE, CLOSED = "pinned", "private", "closed"
KINDS = {"", PINNED, PRIVATE, CLOSED, *Memory.Kind.values}
MOST_SHOWN = 30
CUE_CHARACTERS = 1_000
UNPROCESSABLE = 422


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in the list; what a search found knows why."""

    memory: Memory
    reasons: dict[str, Any] | None = None
    score: float | None = None


@require_safe
@login_required
@never_cache
def memories(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """All memories, newest first by pages, or what the words in `?q=` bring to mind, best first."""
    companion, cue = my_companion(request, companion_id), request.GET.get("q", "").strip()[:CUE_CHARACTERS]
    kind = request.GET.get("kind", "")
    if kind not in KINDS:
        raise Http404
    lines, following = (
        _recalled(companion, cue, kind)
        if cue and kind not in (PRIVATE, CLOSED)
        else _listed(companion, kind, request.GET.get("cursor"), cue)
    )
    context = {
        "companion": companion,
        "lines": lines,
        "following": following,
        "cue": cue,
        "kind": kind,
        "kinds": Memory.Kind.choices,
        "today": timezone.localdate(),
    }
    if request.headers.get("HX-Request"):
        return render(request, "memories/_list.html", context)
    return render(request, "memories/memories.html", context | {"form": MemoryForm()})


def _recalled(companion: Companion, cue: str, kind: str) -> tuple[list[Line], None]:
    """Looking changes nothing, and is not recorded."""
    if not is_storable(cue):
        return [], None
    now = timezone.now()
    found = recall(
        companion.pk,
        cue,
        MOST_SHOWN,
        now=now,
        zone=companion.user.zone,
        vector=vector_of(companion, cue, now),
        names=companion.names,
        among=_among(kind),
        policy=companion.policy,
    )
    prefetch_related_objects([one.memory for one in found], "message")
    return [Line(one.memory, one.reasons, one.score) for one in found], None


def _listed(
    companion: Companion, kind: str, cursor: str | None, text: str = ""
) -> tuple[list[Line], str | None]:
    """What is listed of this kind, newest first by pages; what is private or closed also by a text that it holds."""
    mine = Memory.objects.of(companion.pk)
    chosen = mine.exclude(closed_at=None) if kind == CLOSED else _among(kind).of(mine)
    chosen = chosen.filter(is_private=True) if kind == PRIVATE else chosen
    chosen = chosen.by_content(text) if text else chosen
    chosen = chosen.select_related("message", "replaced_by", "retraction").defer(
        "entry", "replaced_by__entry"
    )
    try:
        rows, following = page(chosen, "happened_at", PageIn(limit=PAGE, cursor=cursor or None))
    except (CursorError, ValueError) as error:
        raise Http404 from error
    return [Line(one) for one in rows], following


def _among(kind: str) -> Among:
    """What this choice of the page shows: one kind, what is pinned, or all."""
    kinds = [kind] if kind in Memory.Kind.values else []
    return Among(is_pinned=kind == PINNED, kinds=kinds, with_private=True)


@require_POST
@login_required
def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion, form = my_companion(request, companion_id), MemoryForm(request.POST)
    if not form.is_valid():
        lines, following = _listed(companion, "", None)
        context = {
            "companion": companion,
            "lines": lines,
            "following": following,
            "kinds": Memory.Kind.choices,
        }
        context |= {"form": form, "today": timezone.localdate()}
        return render(request, "memories/memories.html", context, status=UNPROCESSABLE)
    now = timezone.now()
    admit_work(request.user, "memories", now)
    keep_fact(companion.pk, form.cleaned_data["text"], now, now, zone=companion.user.zone)
    messages.success(request, _("%(name)s will remember this.") % {"name": companion.name})
    return redirect("memories", companion.pk)


@require_safe
@login_required
@never_cache
def memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """One memory: as a row for htmx, else as a page of its own."""
    return _memory_page(request, my_memory(request, companion_id, memory_id))


def _memory_page(request: SignedInRequest, shown: Memory, **more: Any) -> HttpResponse:
    is_alone = str(shown.pk) in request.headers.get("HX-Current-URL", str(shown.pk))  # not in the list
    context = {"companion": shown.companion, "line": Line(shown), "is_alone": is_alone, **more}
    context |= {"today": timezone.localdate()}
    if is_alone:
        context["earlier"] = Memory.objects.of(shown.companion_id).filter(replaced_by=shown).defer("entry")
    status = UNPROCESSABLE if "edit_form" in more and more["edit_form"].is_bound else 200
    template = "memories/_memory.html" if request.headers.get("HX-Request") else "memories/memory.html"
    return render(request, template, context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def edit(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    shown = my_memory(request, companion_id, memory_id)
    longest = settings.MESSAGE_CHARACTERS
    given = {"text": shown.text, "importance": shown.importance, "happened_at": shown.happened_at}
    form = MemoryTextForm(request.POST or None, initial=given, longest=longest)
    if shown.message_id:  # it was said when it was said
        del form.fields["happened_at"]
    if not form.is_bound or not form.is_valid():
        return _memory_page(request, shown, edit_form=form)
    happened_at = form.cleaned_data.get("happened_at")
    if happened_at or form.cleaned_data["text"] != shown.text.replace("\r\n", "\n").strip():
        correct(shown, form.cleaned_data["text"], timezone.now(), happened_at)
    shown.importance = form.cleaned_data["importance"] or shown.importance
    shown.save(update_fields=["importance"])
    return _shown_again(request, shown)


@require_POST
@login_required
def pin(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """Pin a memory, or take the pin away."""
    shown = my_memory(request, companion_id, memory_id)
    shown.is_pinned = not shown.is_pinned
    shown.save(update_fields=["is_pinned"])
    return _shown_again(request, shown)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def keep_from_models(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """Ask whether to keep a memory from models, saying what goes with it, then do it; or give it back at once."""
    shown = my_memory(request, companion_id, memory_id)
    if request.method != "POST":
        context = {"companion": shown.companion, "memory": shown, "today": timezone.localdate()}
        return render(request, "memories/private.html", context | {"hides_sources": hides_sources(shown)})
    keep_private(shown, not shown.is_private, timezone.now())
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Refresh": "true"})
    return redirect("memory", companion_id, memory_id)


@require_POST
@login_required
def restore(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """Undo that a memory was forgotten or revised; for htmx, say how it went in the place where that stood."""
    shown = my_memory(request, companion_id, memory_id)
    said, is_done = _("Undone: it holds again as it did before."), True
    try:
        retractions.undo(shown.companion, memory_id, timezone.now())
    except (UndoError, AlwaysError) as error:
        said, is_done = str(error.detail), False
    if request.headers.get("HX-Request"):
        return render(request, "memories/_restored.html", {"said": said, "is_done": is_done})
    messages.add_message(request, messages.SUCCESS if is_done else messages.ERROR, said)
    if Memory.objects.of(companion_id).filter(pk=memory_id).exists():
        return redirect("memory", companion_id, memory_id)
    return redirect("always", companion_id)  # what had stood in a slot stands there again


def _shown_again(request: SignedInRequest, shown: Memory) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return _memory_page(request, shown)
    return redirect("memories", shown.companion_id)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def delete(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """Ask whether to delete a memory, with the message that it comes from or without; then do it."""
    shown = my_memory(request, companion_id, memory_id)
    if request.method != "POST":
        has_source = shown.message_id is not None or shown.sources.exists()
        context = {"companion": shown.companion, "memory": shown, "has_source": has_source}
        return render(request, "memories/delete.html", context | {"today": timezone.localdate()})
    deletion.forget(shown, timezone.now(), with_message="with_message" in request.POST)
    if not request.headers.get("HX-Request"):
        return redirect("memories", companion_id)
    return HttpResponse(headers={"HX-Trigger": json.dumps({"memory-gone": {"id": str(memory_id)}})})
