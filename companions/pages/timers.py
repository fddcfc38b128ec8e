"""The page of timers: what is planned, the form for a new timer with a preview of its due times, and their actions."""

import contextlib
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from accounts.limits.rates import admit_to
from companions.access import get_companion, get_timer
from companions.errors import TimerError
from companions.life.timers import schedules
from companions.life.timers import timers as work
from companions.life.timers.schedule_words import describe_schedule
from companions.life.timers.schedules import Schedule
from companions.life.wakings.reminders import asks_for_reminder, strip_order
from companions.models import Companion, Message, Timer
from companions.models.timer import NOTE_CHARACTERS
from companions.pages.shortcuts import UNPROCESSABLE, page_view, post_view
from database.journal import everywhere
from text.strings import shorten, split_sentences

KINDS = [
    ("after", gettext_lazy("In a while")),
    ("once", gettext_lazy("Once")),
    ("every", gettext_lazy("Repeating")),
    ("cron", gettext_lazy("As cron")),
]
UNITS = [("min", gettext_lazy("minutes")), ("h", gettext_lazy("hours")), ("d", gettext_lazy("days"))]
EVERY, WEEKDAY = "*", "1-5"
FIELDS = {"after": ("amount", "unit"), "once": ("at",), "every": ("time", "days"), "cron": ("cron",)}


def _name_days() -> list[tuple[str, Any]]:
    named = [(str(number), WEEKDAYS[(number - 1) % 7]) for number in (1, 2, 3, 4, 5, 6, 0)]
    return [(EVERY, _("every day")), (WEEKDAY, _("every weekday, Monday to Friday")), *named]


class TimerForm(forms.Form):
    """A new timer: when it is due, and what for. `schedule` is set once the form is valid."""

    kind = forms.ChoiceField(
        label=gettext_lazy("When"), choices=KINDS, initial="after", widget=forms.RadioSelect
    )
    amount = forms.IntegerField(
        label=gettext_lazy("How long from now"),
        required=False,
        min_value=1,
        initial=30,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    unit = forms.ChoiceField(label=gettext_lazy("Minutes, hours or days"), choices=UNITS, required=False)
    at = forms.CharField(  # DateTimeField would reject times that a change of clocks skips or repeats
        label=gettext_lazy("Day and time"),
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"type": "datetime-local"}),
    )
    days = forms.ChoiceField(label=gettext_lazy("On which days"), choices=_name_days, required=False)
    time = forms.TimeField(
        label=gettext_lazy("At what time"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    cron = forms.CharField(
        label=gettext_lazy("Five fields"),
        required=False,
        max_length=schedules.MAX_CHARACTERS,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "placeholder": "0 8 * * 1-5", "spellcheck": "false"}
        ),
        help_text=gettext_lazy("Minute, hour, day of the month, month, day of the week."),
    )
    note = forms.CharField(
        label=gettext_lazy("What for"),
        required=False,
        max_length=NOTE_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    message = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)  # the one that asks

    def __init__(self, companion: Companion, now: datetime, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.companion, self.now = companion, now
        self.offers_cron = "cron" in (self.data.get("kind"), self.initial.get("kind"))
        if not self.offers_cron:  # cron is offered only to those who come from the advanced settings
            kinds: Any = self.fields["kind"]
            kinds.choices = [(name, label) for name, label in KINDS if name != "cron"]
        self.schedule: Schedule | None = None

    @property
    def zone(self) -> ZoneInfo:
        """The person's time zone; raises TimerError if this machine does not know it."""
        return work.get_zone(self.companion)

    def clean(self) -> dict[str, Any]:
        """Set `schedule` from the fields of the chosen kind; errors of the other kinds' fields are dropped."""
        cleaned: dict[str, Any] = self.cleaned_data
        if "kind" not in cleaned:
            return cleaned
        own = FIELDS[cleaned["kind"]]
        for name in {name for names in FIELDS.values() for name in names} & set(self.errors) - set(own):
            del self.errors[name]
        if set(own) & set(self.errors):
            return cleaned
        field = own[0]
        if not cleaned[field]:
            self.add_error(field, self.fields[field].error_messages["required"])
            return cleaned
        try:
            self.schedule = schedules.parse_new(_write_schedule(cleaned), self.now, self.zone)
        except TimerError as error:
            self.add_error(field, str(error.detail))
        return cleaned

    @cached_property
    def upcoming(self) -> list[datetime]:
        """The first due times, or [] unless the form is valid."""
        if not self.is_bound or not self.is_valid() or self.schedule is None:
            return []
        first = self.schedule.first(self.now, self.zone)
        return schedules.get_due_times(self.schedule, first, self.zone, work.UPCOMING_COUNT)

    @property
    def is_filled(self) -> bool:
        """Whether the main field of the chosen kind is filled in; until then, the preview shows no errors."""
        own = FIELDS.get(self.data.get("kind", ""), ("kind",))
        return bool(self.data.get(own[0]))

    @property
    def in_words(self) -> str:
        language = self.companion.user.language
        return describe_schedule(self.schedule, self.zone, language) if self.schedule else ""


def _write_schedule(cleaned: dict[str, Any]) -> str:
    """Return the form's choice as the text of a schedule."""
    if cleaned["kind"] == "after":
        return f"{cleaned['amount']}{cleaned['unit'] or 'min'}"
    if cleaned["kind"] == "once":
        return f"once:{cleaned['at']}"
    if cleaned["kind"] == "every":
        return f"cron:{cleaned['time']:%-M %-H} * * {cleaned['days'] or EVERY}"
    return f"cron:{cleaned['cron']}"


@page_view
def timers(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the active timers, the first due first, and those to restart: dead letters and cancelled predefined ones.

    The form is filled in with what the message in `?message=` asks to be reminded of.
    """
    companion = get_companion(request.user, companion_id)
    asking = _find_message(companion, request.GET.get("message", ""))
    note = _read_request(asking) if asking else ""
    kind = "cron" if request.GET.get("kind") == "cron" else "after"
    initial = {"note": note, "message": asking and asking.pk, "kind": kind}
    return _page(request, companion, form=TimerForm(companion, timezone.now(), initial=initial))


def _find_message(companion: Companion, message_id: str) -> Message | None:
    """Return the companion's message with this id, or None if there is none or it is hidden."""
    with contextlib.suppress(ValueError):
        return Message.objects.filter(companion=companion, pk=UUID(message_id), is_hidden=False).first()
    return None


def _read_request(message: Message) -> str:
    """Return what the message asks to be reminded of."""
    sentences = split_sentences(message.text)
    asking = next(filter(asks_for_reminder, sentences), sentences[0] if sentences else "")
    return shorten(strip_order(asking, message.companion.user.name), NOTE_CHARACTERS)


def _page(request: SignedInRequest, companion: Companion, form: TimerForm, status: int = 200) -> HttpResponse:
    mine = companion.timers.select_related("message", "waking")
    still = mine.filter(state=Timer.State.DEAD_LETTER) | mine.filter(
        state=Timer.State.CANCELLED, name__in=work.PREDEFINED
    )
    planned = work.get_planned(companion.pk).select_related("message__session__diary_entry", "waking")
    context = {
        "companion": companion,
        "planned": [timer for timer in planned if timer.by != Timer.By.KITH],
        "daily": [timer for timer in planned if timer.by == Timer.By.KITH],
        "still": still,
        "form": form,
        "is_begun": form.is_bound or bool(request.GET),  # the form then comes first on the page
    }
    return render(request, "timers/timers.html", context, status=status)


@page_view
def preview(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show when the timer in the form would be due, or what is wrong with it."""
    companion = get_companion(request.user, companion_id)
    form = TimerForm(companion, timezone.now(), request.GET)
    if not request.htmx:
        return _page(request, companion, form)
    return render(request, "timers/_preview.html", {"companion": companion, "form": form})


@post_view
def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Set a timer, or with `look` only show when it would be due."""
    companion = get_companion(request.user, companion_id)
    form = TimerForm(companion, timezone.now(), request.POST)
    if "look" in request.POST:
        return _page(request, companion, form, 200 if form.is_valid() else UNPROCESSABLE)
    if form.is_valid() and form.schedule:
        note = form.cleaned_data["note"]
        admit_to(companion.user, "timers", form.now)
        try:
            with everywhere():
                work.set_timer(
                    companion,
                    form.schedule.text,
                    note,
                    by=Timer.By.USER,
                    now=form.now,
                    is_asked_for=True,
                    message=_find_message(companion, form.cleaned_data["message"]),
                )
        except TimerError as error:
            form.add_error("note" if error.code in ("bad_note", "note_too_long") else None, str(error.detail))
        else:
            messages.success(request, _("The reminder is set."))
            return redirect("timers", companion_id)
    return _page(request, companion, form, UNPROCESSABLE)


@post_view
def cancel(request: SignedInRequest, companion_id: UUID, timer_id: UUID) -> HttpResponse:
    def act(timer: Timer, now: datetime) -> str:
        return (
            _("The reminder has been cancelled.")
            if work.cancel(timer, now)
            else _("This reminder has ended.")
        )

    return _act_on_timer(request, companion_id, timer_id, act)


@post_view
def fire(request: SignedInRequest, companion_id: UUID, timer_id: UUID) -> HttpResponse:
    """Have the timer wake the companion now; its next due time stays."""

    def act(timer: Timer, now: datetime) -> str:
        admit_to(request.user, "timers", now)
        work.fire(timer, now, is_asked_for=True)
        name = timer.companion.name
        return _("%(name)s is waking for it now. What comes of it will be in the log.") % {"name": name}

    return _act_on_timer(request, companion_id, timer_id, act)


@post_view
def restart(request: SignedInRequest, companion_id: UUID, timer_id: UUID) -> HttpResponse:
    """Restart a timer that was cancelled or has failed."""

    def act(timer: Timer, now: datetime) -> str:
        return _("The reminder is set.") if work.restart(timer, now) else _("This reminder has ended.")

    return _act_on_timer(request, companion_id, timer_id, act)


def _act_on_timer(
    request: SignedInRequest, companion_id: UUID, timer_id: UUID, act: Callable[[Timer, datetime], str]
) -> HttpResponse:
    """Call `act` with the timer, and go back to the page that the person was on, with the outcome as a message."""
    timer = get_timer(request.user, companion_id, timer_id)
    try:
        with everywhere():
            done = act(timer, timezone.now())
        messages.success(request, done)
    except TimerError as error:
        messages.error(request, str(error.detail))
    return redirect("life" if request.POST.get("from") == "life" else "timers", companion_id)
