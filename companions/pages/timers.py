"""Timers: what is planned, a form for another with its next due times, and what may be done with each."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from accounts.rates import admit_to
from companions.access import get_companion, get_timer
from companions.errors import TimerError
from companions.life import timers as work
from companions.models import Companion, Timer
from companions.pages.decorators import UNPROCESSABLE, page_view, post_view
from companions.pages.forms.timers import TimerForm


@page_view
def timers(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """All that are active, that which is due first before the others, and those that stand still."""
    companion = get_companion(request.user, companion_id)
    return _page(request, companion, form=TimerForm(companion, timezone.now()))


def _page(request: SignedInRequest, companion: Companion, form: TimerForm, status: int = 200) -> HttpResponse:
    mine = companion.timers.select_related("message", "waking")
    still = mine.filter(state=Timer.State.DEAD_LETTER) | mine.filter(
        state=Timer.State.CANCELLED, name__in=work.PREDEFINED
    )
    context = {
        "companion": companion,
        "planned": work.get_planned(companion.pk).select_related("message__session__diary_entry", "waking"),
        "still": still,
        "form": form,
        "most": work.MAX_ACTIVE,
    }
    return render(request, "timers/timers.html", context | _preview(form), status=status)


def _preview(form: TimerForm) -> dict[str, Any]:
    if not form.is_bound or not form.is_valid():
        return {}
    return {"upcoming": form.upcoming(work.UPCOMING_COUNT), "in_words": form.in_words}


@page_view
def preview(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """When a timer would be due that is filled in so far; or what is wrong with it."""
    companion = get_companion(request.user, companion_id)
    form = _filled(request.GET, companion)
    if not request.headers.get("HX-Request"):
        return _page(request, companion, form)
    return render(request, "timers/_preview.html", {"companion": companion, "form": form} | _preview(form))


def _filled(sent: QueryDict, companion: Companion) -> TimerForm:
    return TimerForm(companion, timezone.now(), sent)


@post_view
def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Set a timer, or show when it would be due (`look`)."""
    companion = get_companion(request.user, companion_id)
    form = _filled(request.POST, companion)
    if "look" in request.POST:
        return _page(request, companion, form, 200 if form.is_valid() else UNPROCESSABLE)
    if not form.is_valid() or not _is_set(companion, form):
        return _page(request, companion, form, UNPROCESSABLE)
    messages.success(request, _("The timer is set."))
    return redirect("timers", companion_id)


def _is_set(companion: Companion, form: TimerForm) -> bool:
    assert form.schedule is not None  # noqa: S101 (it is valid)
    note = form.cleaned_data["note"]
    admit_to(companion.user, "timers", form.now)
    try:
        work.set_timer(companion, form.schedule.text, note, by=Timer.By.USER, now=form.now, is_asked_for=True)
    except TimerError as error:
        form.add_error("note" if error.code in ("bad_note", "note_too_long") else None, str(error.detail))
        return False
    return True


@post_view
def cancel(request: SignedInRequest, companion_id: UUID, timer_id: UUID) -> HttpResponse:
    def deed(timer: Timer, now: datetime) -> str:
        return _("The timer is cancelled.") if work.cancel(timer, now) else _("This timer has ended.")

    return _done(request, companion_id, timer_id, deed)


@post_view
def fire(request: SignedInRequest, companion_id: UUID, timer_id: UUID) -> HttpResponse:
    """Let it wake now; its own due time stays."""

    def deed(timer: Timer, now: datetime) -> str:
        admit_to(request.user, "timers", now)
        work.fire(timer, now, is_asked_for=True)
        name = timer.companion.name
        return _("%(name)s wakes for it now. What comes of it stands in the log.") % {"name": name}

    return _done(request, companion_id, timer_id, deed)


@post_view
def again(request: SignedInRequest, companion_id: UUID, timer_id: UUID) -> HttpResponse:
    """Let one that stands still run again."""

    def deed(timer: Timer, now: datetime) -> str:
        return _("The timer is set.") if work.restart(timer, now) else _("This timer has ended.")

    return _done(request, companion_id, timer_id, deed)


def _done(
    request: SignedInRequest, companion_id: UUID, timer_id: UUID, deed: Callable[[Timer, datetime], str]
) -> HttpResponse:
    """The page that the person was on, with a word on what came of it."""
    timer = get_timer(request.user, companion_id, timer_id)
    try:
        messages.success(request, deed(timer, timezone.now()))
    except TimerError as error:
        messages.error(request, str(error.detail))
    return redirect("life" if request.POST.get("from") == "life" else "timers", companion_id)
