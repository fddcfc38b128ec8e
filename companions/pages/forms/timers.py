"""The form of a timer: four plain choices, each made into a schedule."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.dates import WEEKDAYS
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _

from companions.errors import TimerError
from companions.life import schedules, timers
from companions.life.schedules import Schedule
from companions.models import Companion
from companions.models.timer import NOTE_CHARACTERS

KINDS = [
    ("after", _("In a while")),
    ("once", _("Once")),
    ("every", _("Again and again")),
    ("cron", _("As cron")),
]
UNITS = [("min", _("minutes")), ("h", _("hours")), ("d", _("days"))]
EVERY, WEEKDAY = "*", "1-5"
FIELDS = {"after": ("amount", "unit"), "once": ("at",), "every": ("time", "days"), "cron": ("cron",)}


def _days() -> list[tuple[str, Any]]:
    named = [(str(number), WEEKDAYS[(number - 1) % 7]) for number in (1, 2, 3, 4, 5, 6, 0)]
    return [(EVERY, _("every day")), (WEEKDAY, _("every weekday, Monday to Friday")), *named]


class TimerForm(forms.Form):
    """When, and what for. With it valid, `schedule` is what was asked for, first due at `first`."""

    kind = forms.ChoiceField(label=_("When"), choices=KINDS, initial="after", widget=forms.RadioSelect)
    amount = forms.IntegerField(
        label=_("How long from now"),
        required=False,
        min_value=1,
        initial=30,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    unit = forms.ChoiceField(label=_("Minutes, hours or days"), choices=UNITS, required=False)
    at = forms.CharField(  # a time that a clock leaps over, or shows twice, is one: no DateTimeField takes it
        label=_("Day and time"),
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"type": "datetime-local"}),
    )
    days = forms.ChoiceField(label=_("On which days"), choices=lazy(_days, list), required=False)
    time = forms.TimeField(
        label=_("At what time"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    cron = forms.CharField(
        label=_("Five fields"),
        required=False,
        max_length=schedules.MAX_CHARACTERS,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "placeholder": "0 8 * * 1-5", "spellcheck": "false"}
        ),
        help_text=_("Minute, hour, day of the month, month, day of the week."),
    )
    note = forms.CharField(
        label=_("What for"),
        required=False,
        max_length=NOTE_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, companion: Companion, now: datetime, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.companion, self.now = companion, now
        self.schedule: Schedule | None = None

    def clean(self) -> dict[str, Any]:
        """The schedule of the choice that was made; what is wrong with it stands at its field."""
        given: dict[str, Any] = self.cleaned_data
        if "kind" not in given:
            return given
        own = FIELDS[given["kind"]]
        for name in {name for names in FIELDS.values() for name in names} & set(self.errors) - set(own):
            del self.errors[name]
        if not set(own) & set(self.errors):
            self._plan(given, own[0])
        return given

    def _plan(self, given: dict[str, Any], field: str) -> None:
        if not given[field]:
            self.add_error(field, self.fields[field].error_messages["required"])
            return
        try:
            self.schedule = schedules.parse_new(_written(given), self.now, timers.get_zone(self.companion))
        except TimerError as error:
            self.add_error(field, str(error.detail))

    def upcoming(self, count: int) -> list[datetime]:
        """The first due times of a valid form."""
        zone = timers.get_zone(self.companion)
        if self.schedule is None:
            return []
        return schedules.get_due_times(self.schedule, self.schedule.first(self.now, zone), zone, count)

    @property
    def in_words(self) -> str:
        zone = timers.get_zone(self.companion)
        language = self.companion.user.language
        return schedules.describe(self.schedule, zone, language) if self.schedule else ""


def _written(given: dict[str, Any]) -> str:
    """What was chosen, as a schedule is written."""
    if given["kind"] == "after":
        return f"{given['amount']}{given['unit'] or 'min'}"
    if given["kind"] == "once":
        return f"once:{given['at']}"
    if given["kind"] == "every":
        return f"cron:{given['time']:%-M %-H} * * {given['days'] or EVERY}"
    return f"cron:{given['cron']}"
