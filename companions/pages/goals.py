"""The page of a companion's goals and ideas, and of the threads that are open between it and the person."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from accounts.limits.usage import admit_work
from companions.access import get_companion, get_thread
from companions.errors import PursuitError
from companions.memories import goals, threads
from companions.models import Companion
from companions.pages.shortcuts import UNPROCESSABLE, page_view, post_view
from memory.models import Memory, Pursuit, Thread
from text.strings import shorten

MAX_SHOWN = 500  # of the goals and ideas, and of the threads
MAX_ENDED_THREADS = 20
MAX_GOAL_CHARACTERS = 80  # of a goal in a select box


class PursuitForm(forms.Form):
    """The state of a goal or an idea. A goal can be part of another goal among `pursuits`; ideas have no such field."""

    status = forms.ChoiceField(label=gettext_lazy("How it is going"), choices=Pursuit.Status.choices)
    progress = forms.IntegerField(
        label=gettext_lazy("Progress in per cent"),
        min_value=0,
        max_value=100,
        widget=forms.NumberInput(attrs={"inputmode": "numeric", "step": 5}),
    )
    excitement = forms.IntegerField(
        label=gettext_lazy("How exciting it is, from 1 to 10"),
        min_value=1,
        max_value=10,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    parent_id = forms.TypedChoiceField(
        label=gettext_lazy("Part of"), required=False, empty_value=None, coerce=UUID, choices=()
    )

    def __init__(self, data: Any = None, *, pursuit: Pursuit, pursuits: Iterable[Pursuit]) -> None:
        self.pursuit = pursuit
        initial = {name: getattr(pursuit, name) for name in self.base_fields}
        super().__init__(data, initial=initial)
        if pursuit.memory.kind != Memory.Kind.GOAL:
            del self.fields["parent_id"]
            return
        others = [goal.memory for goal in _only(Memory.Kind.GOAL, pursuits) if goal.pk != pursuit.pk]
        named = [(str(memory.pk), shorten(memory.text, MAX_GOAL_CHARACTERS)) for memory in others]
        field: Any = self.fields["parent_id"]
        field.choices = [("", _("no larger goal")), *named]


class NewPursuitForm(forms.Form):
    """A goal or an idea that the person adds."""

    kind = forms.ChoiceField(
        label=gettext_lazy("What it is"),
        choices=[
            (Memory.Kind.GOAL, gettext_lazy("A goal")),
            (Memory.Kind.IDEA, gettext_lazy("An idea")),
        ],
        initial=Memory.Kind.GOAL,
        widget=forms.RadioSelect,
    )
    text = forms.CharField(
        label=gettext_lazy("In your own words"), max_length=1000, widget=forms.Textarea(attrs={"rows": 2})
    )


def _only(kind: Memory.Kind, pursuits: Iterable[Pursuit]) -> list[Pursuit]:
    return [pursuit for pursuit in pursuits if pursuit.memory.kind == kind]


@page_view
def pursuits(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the goals as a tree and the ideas by excitement, and a form for the one whose id is in `?change=`."""
    companion = get_companion(request.user, companion_id)
    found = _load(companion)
    wanted = request.GET.get("change", "")
    pursuits = _get_pursuits(found)
    opened = next((pursuit for pursuit in pursuits if str(pursuit.memory_id) == wanted), None)
    form = PursuitForm(pursuit=opened, pursuits=pursuits) if opened else None
    return _page(request, companion, found, form)


@post_view
def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Save a goal or an idea that the person adds, or show the page with the form's errors."""
    companion, form = get_companion(request.user, companion_id), NewPursuitForm(request.POST)
    if not form.is_valid():
        return _page(request, companion, _load(companion), None, UNPROCESSABLE, add_form=form)
    now = timezone.now()
    admit_work(request.user, "memories", now)
    pursuit = goals.add(companion, Memory.Kind(form.cleaned_data["kind"]), form.cleaned_data["text"], now)
    return redirect(f"{reverse('pursuits', args=[companion_id])}#pursuit-{pursuit.memory_id}")


@post_view
def change(request: SignedInRequest, companion_id: UUID, pursuit_id: UUID) -> HttpResponse:
    """Save the state of a goal or an idea, or show the page with the form's errors."""
    companion = get_companion(request.user, companion_id)
    found = _load(companion)
    pursuit = get_object_or_404(goals.load_pursuits(companion), memory=pursuit_id)
    form = PursuitForm(request.POST, pursuit=pursuit, pursuits=_get_pursuits(found))
    if form.is_valid():
        try:
            goals.update(companion, pursuit_id, form.cleaned_data, timezone.now())
        except PursuitError as error:
            form.add_error("parent_id", str(error.detail))
        except Pursuit.DoesNotExist as error:
            raise Http404 from error
        else:
            messages.success(request, _("Saved."))
            return redirect(f"{reverse('pursuits', args=[companion_id])}#pursuit-{pursuit_id}")
    return _page(request, companion, found, form, UNPROCESSABLE)


@post_view
def change_thread(request: SignedInRequest, companion_id: UUID, thread_id: UUID) -> HttpResponse:
    """Give a thread the `state` whose button was pressed: settled, dropped or open."""
    thread = get_thread(request.user, companion_id, thread_id)
    state = request.POST.get("state", "")
    if state in Thread.State.values:
        threads.set_state(thread, Thread.State(state), timezone.now())
        messages.success(request, _("Saved."))
    else:
        messages.error(request, _("Choose whether it is settled, dropped or open."))
    return redirect(f"{reverse('pursuits', args=[companion_id])}#threads")


def _load(companion: Companion) -> list[Memory]:
    return list(goals.load_pursued(companion).order_by("-learnt_at", "-pursuit__pk", "-pk")[:MAX_SHOWN])


def _get_pursuits(found: Iterable[Memory]) -> list[Pursuit]:
    return [memory.pursuit for memory in found if hasattr(memory, "pursuit")]


def _page(
    request: SignedInRequest,
    companion: Companion,
    found: list[Memory],
    form: PursuitForm | None,
    status: int = 200,
    add_form: NewPursuitForm | None = None,
) -> HttpResponse:
    mine = list(threads.load_threads(companion)[:MAX_SHOWN])
    pursuits = _get_pursuits(found)
    ended = [thread for thread in mine if thread.closed_at]
    ended.sort(key=lambda thread: thread.closed_at or thread.opened_at, reverse=True)
    context = {
        "companion": companion,
        "threads": [thread for thread in mine if not thread.closed_at],
        "ended_threads": ended[:MAX_ENDED_THREADS],
        "goals": goals.build_tree(_only(Memory.Kind.GOAL, pursuits)),
        "ideas": goals.sort_ideas(_only(Memory.Kind.IDEA, pursuits)),
        "theirs": [memory for memory in found if not hasattr(memory, "pursuit")],
        "form": form,
        "add_form": add_form or NewPursuitForm(),
        "opened": form.pursuit.memory_id if form else None,
    }
    return render(request, "life/pursuits.html", context, status=status)
