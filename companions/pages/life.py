"""The pages of a companion's life between talks: its log, what is planned, its inner state, and its settings."""

from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from companions.access import get_companion, get_waking
from companions.life import inner_state, log
from companions.life.inner_state import compare_texts
from companions.life.log import Entry
from companions.life.outreach import channels
from companions.life.timers import timers
from companions.life.wakings import waking
from companions.models import Companion, InnerState, Life, Message, Waking
from companions.pages.shortcuts import UNPROCESSABLE, form_view, list_page, page_view, post_view

HOURS = ("quiet_from", "quiet_until", "sleeps_from", "sleeps_until")
PAGE_SIZE = 20
MAX_TIMERS = 5
# Reasons for which a message was held back by the person's own rules, not for its words, so that they may read it.
BY_RULE = {"not_opted_in", "muted", "goodbye", "quiet_hours", "enough_today", "unanswered", "talked_since"}


class LifeForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings of a companion's life between talks, except for muting, which has a button of its own."""

    class Meta:
        model = Life
        fields = (
            "is_awake",
            "reaches_out",
            "most_a_day",
            *HOURS,
            "by_push",
            "by_email",
        )
        widgets: ClassVar[dict[str, Any]] = {
            "most_a_day": forms.NumberInput(attrs={"inputmode": "numeric", "min": 0, "max": Life.MOST_A_DAY}),
            **dict.fromkeys(HOURS, forms.TimeInput(attrs={"type": "time"}, format="%H:%M")),
        }
        help_texts: ClassVar[dict[str, Any]] = {
            "is_awake": gettext_lazy(
                "Its timers and its own thoughts can wake it, and its inner state keeps changing."
            ),
            "reaches_out": gettext_lazy(
                "Without this, it writes first only if you asked it to, e.g. “remind me at six”."
            ),
            "most_a_day": gettext_lazy("From 0 to 10. What you asked for does not count."),
            "by_email": gettext_lazy(
                "At most one e-mail every three hours, with what you have not read by then."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Disable the channels that this installation lacks, each with the reason; their stored values stay."""
        super().__init__(*args, **kwargs)
        for channel in channels.values():
            field = self.fields.get(f"by_{channel.name}")
            if field and (obstacle := channel.find_obstacle()):
                field.disabled, field.help_text = True, obstacle
                self.initial[f"by_{channel.name}"] = False

    def save(self, commit: bool = True) -> Life:
        """Save only the form's enabled fields, because the sweeps write other fields of the row."""
        life: Life = self.instance
        if commit:
            life.save(update_fields=[name for name, field in self.fields.items() if not field.disabled])
        return life


@dataclass(slots=True)
class LogLine:
    """A line of the log, with the message that was said, or the text that was `withheld`."""

    entry: Entry
    message: Message | None = None
    withheld: str = ""


@page_view
def life(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show what is planned, and a page of what the companion did; for htmx only a page of the log."""
    companion = get_companion(request.user, companion_id)
    cursor = request.GET.get("cursor") or None
    context = {"companion": companion, "cursor": cursor, **_load_log(companion, cursor)}
    if request.htmx:
        return render(request, "life/_log.html", context)
    context["planned"] = timers.get_planned(companion.pk)[:MAX_TIMERS]
    context["waiting"] = Waking.objects.waiting().filter(companion=companion).order_by("due_at", "pk")
    return render(request, "life/life.html", context)


def _load_log(companion: Companion, cursor: str | None) -> dict[str, Any]:
    """Return a page of the companion's ended wakings and reflections, newest first, and the cursor of the next page."""
    ended = (
        log.load_wakings(companion).exclude(state=Waking.State.WAITING).defer(None).defer("prompt", "shown")
    )
    with_place = ended.select_related("message__session__diary_entry")
    rows = [(with_place, "due_at"), (log.load_reflections(companion), "made_at")]
    found, following = list_page(rows, cursor, PAGE_SIZE)
    logged = []
    for row in found:
        line = LogLine(log.write_entry(companion, row))
        if isinstance(row, Waking):
            is_held = row.outcome == Waking.Outcome.HELD and row.reason in BY_RULE
            line.message, line.withheld = getattr(row, "message", None), row.text if is_held else ""
        logged.append(line)
    return {"logged": logged, "following": following}


@page_view
def inner_states(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show how the companion feels now, and its inner state's revisions by pages, newest first, with their changes."""
    companion = get_companion(request.user, companion_id)
    every = InnerState.objects.filter(companion=companion).order_by("-number")
    page = Paginator(every, PAGE_SIZE).get_page(request.GET.get("page"))
    shown = list(every[page.start_index() - 1 : page.end_index() + 1]) if page.paginator.count else []
    earlier: list[InnerState | None] = [*shown[1:], None]
    revised = [
        (state, compare_texts(before.text, state.text) if before and before.text and state.text else [])
        for state, before in zip(shown, earlier, strict=True)
    ]
    inner = inner_state.get_newest(companion.pk)
    context = {
        "companion": companion,
        "page": page,
        "revised": revised[:PAGE_SIZE],
        "inner": inner,
        "feeling": inner_state.get_feeling_now(inner, timezone.now()),
    }
    return render(request, "life/inner_states.html", context)


@form_view
def settings(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the form for when and how the companion may write to the person; on POST, save it."""
    companion = get_companion(request.user, companion_id)
    form = LifeForm(request.POST or None, instance=companion.life)
    if form.is_bound and form.is_valid():
        form.save()
        messages.success(request, _("Saved."))
        return redirect("life_settings", companion_id)
    context = {"companion": get_companion(request.user, companion_id), "form": form}
    return render(request, "life/settings.html", context, status=UNPROCESSABLE if form.is_bound else 200)


@post_view
def mute(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Mute the companion if `is_muted` is "yes", otherwise unmute it."""
    shown = get_companion(request.user, companion_id).life
    shown.is_muted = request.POST.get("is_muted") == "yes"
    shown.save(update_fields=["is_muted"])
    return redirect("life_settings", companion_id)


@post_view
def cancel_waking(request: SignedInRequest, companion_id: UUID, waking_id: UUID) -> HttpResponse:
    """Cancel a waking that has not ended."""
    if waking.cancel(get_waking(request.user, companion_id, waking_id), timezone.now()):
        messages.success(request, _("It has been cancelled."))
    else:
        messages.info(request, _("It is already over."))
    return redirect("life", companion_id)
