"""The pages of a companion's memories: list and search, one memory with its actions, and deleting many."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import Prefetch, prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_htmx.http import HttpResponseClientRefresh, trigger_client_event

from accounts.authentication import SignedInRequest
from accounts.limits.usage import admit_work
from companions import deletion
from companions.access import get_companion, get_memory, parse_uuid
from companions.conversations.editing import correct_memory
from companions.memories import consolidation
from companions.memories.editing import add_fact, hides_sources, mark, set_private, undo_retraction_of
from companions.models import Companion, Message
from companions.moments import is_moment
from companions.pages.companions import TypedNameForm
from companions.pages.shortcuts import (
    UNPROCESSABLE,
    embed_question,
    form_view,
    list_page,
    page_view,
    post_view,
    redirect_whole,
)
from memory.errors import CoreMemoryError, UndoError
from memory.models import Memory
from memory.recall.candidates import MemoryFilter
from memory.recall.recall import recall
from text.strings import is_storable

MAX_MEMORY_CHARACTERS = 8_000
PAGE_SIZE = 30
PINNED, PRIVATE, CLOSED, ALL = "pinned", "private", "closed", "all"
KINDS = {"", ALL, PINNED, PRIVATE, CLOSED, *Memory.Kind.values}
# The kinds that the page shows first: what was learnt, except goals and ideas, which have a page of their own.
FACTS = [
    kind for kind in Memory.Kind.values if kind not in (*Memory.MIRRORS, Memory.Kind.GOAL, Memory.Kind.IDEA)
]
MAX_PINNED = 100
MAX_FOUND = 30
MAX_CUE_CHARACTERS = 1_000
# The messages that a memory was learnt from, for links into the talk.
SOURCES = Prefetch("sources", Message.objects.order_by("said_at").only("pk", "said_at"))


class MemoryForm(forms.Form):
    """The text of a memory."""

    text = forms.CharField(
        label=gettext_lazy("What is remembered"),
        max_length=MAX_MEMORY_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class MemoryTextForm(MemoryForm):
    """The correction of a memory: its text of at most `longest` characters, its importance and its time."""

    importance = forms.IntegerField(
        label=gettext_lazy("How important it is, from 1 to 10"),
        min_value=1,
        max_value=10,
        required=False,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
        help_text=gettext_lazy("5 is usual. More important memories come to mind a little sooner."),
    )
    happened_at = forms.DateTimeField(
        label=gettext_lazy("When it happened"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )

    def __init__(self, *args: Any, longest: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        text = self.fields["text"]
        self.fields["text"] = forms.CharField(label=text.label, max_length=longest, widget=text.widget)

    def clean_happened_at(self) -> datetime | None:
        """Return the new time, or None if it is unchanged or empty."""
        happened_at: datetime | None = self.cleaned_data["happened_at"]
        if happened_at is None or "happened_at" not in self.changed_data:
            return None
        if not is_moment(happened_at):
            raise forms.ValidationError(_("This is too long ago, or too far ahead."))
        return happened_at

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in the list; if a search found it, with the reasons and the score."""

    memory: Memory
    reasons: dict[str, Any] | None = None
    score: float | None = None


@page_view
def memories(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show a page of the facts (pinned ones first, then newest first), or of another `?kind=`, or the memories that the
    cue in `?q=` recalls, best first. Private and closed memories are searched by their text instead.
    """
    companion = get_companion(request.user, companion_id)
    cue = request.GET.get("q", "").strip()[:MAX_CUE_CHARACTERS]
    kind = request.GET.get("kind", "")
    if kind not in KINDS:
        raise Http404
    if cue and kind not in (PRIVATE, CLOSED):
        context: dict[str, Any] = {"lines": _search(companion, cue, kind), "following": None}
    else:
        context = _list(companion, kind, request.GET.get("cursor"), cue)
    context |= {"companion": companion, "cue": cue, "kind": kind}
    if request.htmx:
        return render(request, "memories/_list.html", context)
    return _page(request, companion, context | {"form": MemoryForm()})


def _page(
    request: SignedInRequest, companion: Companion, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Render the whole page, with a line on the last night's consolidation and the number of slots and blocks."""
    context |= {
        "kinds": Memory.Kind.choices,
        "night": consolidation.describe_last_night(companion),
        "in_mind": companion.slots.count() + companion.blocks.count(),
    }
    return render(request, "memories/memories.html", context, status=status)


def _search(companion: Companion, cue: str, kind: str) -> list[Line]:
    """Return the memories that the cue recalls. The search is not recorded and changes no memory."""
    if not is_storable(cue):
        return []
    now = timezone.now()
    found = recall(
        companion.pk,
        cue,
        MAX_FOUND,
        now=now,
        zone=companion.user.zone,
        vector=embed_question(companion, cue, now),
        names=companion.names,
        filters=_build_filter(kind, is_search=True),
        policy=companion.policy,
    )
    prefetch_related_objects([result.memory for result in found], "message", SOURCES)
    return [Line(result.memory, result.reasons, result.score) for result in found]


def _list(companion: Companion, kind: str, cursor: str | None, text: str = "") -> dict[str, Any]:
    """Return a page of memories of this kind that contain `text`, if any, newest first, and the next cursor.

    The first page of the facts (for "") begins with at most MAX_PINNED pinned ones.
    """
    mine = Memory.objects.of(companion.pk)
    chosen = mine.exclude(closed_at=None) if kind == CLOSED else _build_filter(kind).apply(mine)
    chosen = chosen.filter(is_private=True) if kind == PRIVATE else chosen
    chosen = chosen.by_content(text) if text else chosen
    chosen = chosen.select_related("message", "replaced_by", "retraction").prefetch_related(SOURCES)
    chosen = chosen.defer("entry", "replaced_by__entry")
    pinned: list[Memory] = []
    if not kind:
        pinned = [] if cursor else list(chosen.filter(is_pinned=True).newest(MAX_PINNED))
        chosen = chosen.filter(is_pinned=False)
    rows, following = list_page([(chosen, "happened_at")], cursor, PAGE_SIZE)
    return {"lines": [Line(memory) for memory in (*pinned, *rows)], "following": following}


def _build_filter(kind: str, *, is_search: bool = False) -> MemoryFilter:
    """Return the filter for a kind: one kind, pinned memories, all, or for "" the facts (in a search all memories)."""
    kinds = [kind] if kind in Memory.Kind.values else [] if kind or is_search else FACTS
    return MemoryFilter(is_pinned=kind == PINNED, kinds=kinds, with_private=True)


@post_view
def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion, form = get_companion(request.user, companion_id), MemoryForm(request.POST)
    if not form.is_valid():
        context = {"companion": companion, "form": form}
        return _page(request, companion, context | _list(companion, "", None), UNPROCESSABLE)
    now = timezone.now()
    admit_work(request.user, "memories", now)
    add_fact(companion, form.cleaned_data["text"], now)
    messages.success(request, _("%(name)s will remember this.") % {"name": companion.name})
    return redirect("memories", companion.pk)


@page_view
def memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    return _memory_page(request, get_memory(request.user, companion_id, memory_id))


def _memory_page(
    request: SignedInRequest, shown: Memory, edit_form: MemoryTextForm | None = None
) -> HttpResponse:
    """Show one memory: as a row for htmx, otherwise as a page of its own."""
    is_alone = str(shown.pk) in (request.htmx.current_url or str(shown.pk))  # not within the list
    context = {
        "companion": shown.companion,
        "line": Line(shown),
        "is_alone": is_alone,
        "edit_form": edit_form,
    }
    if is_alone:
        context["earlier"] = Memory.objects.of(shown.companion_id).filter(replaced_by=shown).defer("entry")
    template = "memories/_memory.html" if request.htmx else "memories/memory.html"
    status = UNPROCESSABLE if edit_form and edit_form.is_bound else 200
    return render(request, template, context, status=status)


@form_view
def edit(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    shown = get_memory(request.user, companion_id, memory_id)
    given = {"text": shown.text, "importance": shown.importance, "happened_at": shown.happened_at}
    ids = f"memory-{memory_id}-%s"  # other such forms may stand on the same page
    form = MemoryTextForm(
        request.POST or None, initial=given, longest=settings.MESSAGE_CHARACTERS, auto_id=ids
    )
    if shown.message_id:  # its time is that of the message
        del form.fields["happened_at"]
    if not form.is_bound or not form.is_valid():
        return _memory_page(request, shown, form)
    happened_at = form.cleaned_data.get("happened_at")
    if happened_at or form.cleaned_data["text"] != shown.text.replace("\r\n", "\n").strip():
        correct_memory(shown, form.cleaned_data["text"], timezone.now(), happened_at)
    mark(shown, importance=form.cleaned_data["importance"] or shown.importance)
    return _show_changed(request, shown)


@post_view
def pin(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """Pin a memory, or unpin it."""
    shown = get_memory(request.user, companion_id, memory_id)
    mark(shown, is_pinned=not shown.is_pinned)
    return _show_changed(request, shown)


def _show_changed(request: SignedInRequest, shown: Memory) -> HttpResponse:
    if request.htmx:
        return _memory_page(request, shown)
    return redirect("memories", shown.companion_id)


@form_view
def keep_from_models(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """Ask whether to keep a memory from models; on POST, do so, or undo it if the memory is private already."""
    shown = get_memory(request.user, companion_id, memory_id)
    if request.method != "POST":
        context = {"companion": shown.companion, "memory": shown, "hides_sources": hides_sources(shown)}
        return render(request, "memories/private.html", context)
    set_private(shown, not shown.is_private, timezone.now())
    if request.htmx:
        return HttpResponseClientRefresh()
    return redirect("memory", companion_id, memory_id)


@post_view
def restore(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """Undo that a memory was forgotten or revised; for htmx, return the outcome as a part of the page."""
    shown = get_memory(request.user, companion_id, memory_id)
    outcome, is_done = _("Undone: it holds true again, as before."), True
    try:
        undo_retraction_of(shown.companion, memory_id, timezone.now())
    except (UndoError, CoreMemoryError) as error:
        outcome, is_done = str(error.detail), False
    if request.htmx:
        return render(request, "memories/_restored.html", {"said": outcome, "is_done": is_done})
    messages.add_message(request, messages.SUCCESS if is_done else messages.ERROR, outcome)
    if Memory.objects.of(companion_id).filter(pk=memory_id).exists():
        return redirect("memory", companion_id, memory_id)
    return redirect("always", companion_id)  # it was restored to a slot


@form_view
def delete(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> HttpResponse:
    """Ask whether to delete a memory, with or without the messages that it comes from; on POST, delete it."""
    shown = get_memory(request.user, companion_id, memory_id)
    if request.method != "POST":
        has_source = shown.message_id is not None or hides_sources(shown)
        context = {"companion": shown.companion, "memory": shown, "has_source": has_source}
        return render(request, "memories/delete.html", context)
    deletion.forget(shown, timezone.now(), with_message="with_message" in request.POST)
    if not request.htmx:
        return redirect("memories", companion_id)
    return trigger_client_event(HttpResponse(), "memory-gone", {"id": str(memory_id)})


@post_view
def delete_many(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Ask whether to delete the chosen memories, or all of a kind, or all; with `is_sure`, delete them.

    Unless they were chosen one by one, the companion's name must be typed as well.
    """
    companion, kind = get_companion(request.user, companion_id), request.POST.get("kind", ALL)
    if kind not in ("", ALL, *Memory.Kind.values):
        raise Http404
    kinds = [] if kind == ALL else [kind] if kind else FACTS
    named = [] if "all" in request.POST else request.POST.getlist("id")
    ids = [parse_uuid(name) for name in named][: deletion.MAX_AT_ONCE]
    form = TypedNameForm(companion, request.POST if "is_sure" in request.POST else None)
    if not form.is_bound or (not ids and not form.is_valid()):
        return _ask_to_delete(request, companion, ids, kind, kinds, form)
    with_messages, now = "with_messages" in request.POST, timezone.now()
    if ids:
        count = deletion.forget_many(companion.pk, ids, now, with_messages=with_messages)
    else:
        count = deletion.forget_every(companion.pk, kinds, now, with_messages=with_messages)
    text = ngettext("%(count)s memory has been deleted.", "%(count)s memories have been deleted.", count)
    messages.success(request, text % {"count": count})
    return redirect_whole(request, "memories", companion.pk)


def _ask_to_delete(
    request: SignedInRequest,
    companion: Companion,
    ids: list[UUID],
    kind: str,
    kinds: list[str],
    form: TypedNameForm,
) -> HttpResponse:
    """Ask for confirmation, with how many memories there are, and whether gists or messages go with them."""
    chosen = Memory.objects.of(companion.pk)
    chosen = chosen.filter(pk__in=ids) if ids or "all" not in request.POST else chosen
    chosen = chosen.filter(kind__in=kinds) if kinds and not ids else chosen
    count = chosen.count()
    if not count:
        messages.info(request, _("Choose some memories first."))
        if request.htmx:
            return render(request, "memories/none_chosen.html", {"companion": companion})
        return redirect("memories", companion.pk)
    context = {
        "companion": companion,
        "ids": ids,
        "kind": kind,
        "kind_label": "" if kind == ALL else Memory.Kind(kind).label if kind else _("Facts"),
        "count": count,
        "has_gists": chosen.filter(kind=Memory.Kind.GIST).exists(),
        "has_messages": chosen.exclude(message=None).exists()
        or chosen.exclude(kind__in=Memory.SUMMARIES).filter(sources__isnull=False).exists(),
        "form": form,
    }
    status = UNPROCESSABLE if form.is_bound and not request.htmx else 200
    return render(request, "memories/delete_many.html", context, status=status)
