"""The tools `set_timer`, `list_timers` and `cancel_timer`: when to wake, and what for."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import AliasChoices, Field, model_validator

from companions.life.timers import timers
from companions.models import Message, Timer
from companions.models.timer import NOTE_CHARACTERS
from companions.tools.bounds import count_tokens_left, take_fitting
from companions.tools.grounding import REFUSED, Shown
from companions.tools.own_words import find_sentence
from companions.tools.tool import Tool, ToolContext, ToolError, refuse_several
from text.strings import folded, shorten

ID_CHARACTERS = 8  # enough to tell a few dozen timers from each other
MAX_NOTE_CHARACTERS = 200  # shown of a timer's note
MAX_BEFORE = 2  # messages of the person's, before the one being answered, that may say what a timer is for


class SetTimer(Tool):
    """Set a timer that wakes you then: to remind the person of something, or for yourself."""

    name = "set_timer"
    writes = True
    under_way = _("%(name)s is setting a reminder")
    done = _("set a timer")

    schedule: str = Field(
        min_length=1,
        max_length=120,
        validation_alias=AliasChoices(
            "schedule", "when", "at", "time", "datetime", "delay", "in", "duration", "cron"
        ),
        description="30s, 5min, 2h, 1d, once:2026-04-10 09:00, or cron:0 8 * * 1-5; their local time.",
    )
    text: str = Field(
        min_length=1,
        max_length=1000,
        validation_alias=AliasChoices("text", "note", "message", "reminder", "what", "task", "title"),
        description="What for.",
    )
    they_asked: bool = Field(True, description="False where it is your own wish.")

    @model_validator(mode="before")
    @classmethod
    def _join_date_and_time(cls, given: Any) -> Any:
        """Accept a date beside the time, which would otherwise be taken for that of today."""
        if isinstance(given, dict) and given.get("date") and given.get("time") and "schedule" not in given:
            return {**given, "schedule": f"{given['date']} {given['time']}"}
        return given

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        note = self._write_note(context)
        timer = timers.set_timer(
            context.companion,
            self.schedule,
            note,
            by=Timer.By.COMPANION,
            now=now,
            is_asked_for=self.they_asked,
            message=context.message,
            waking=context.waking,
        )
        return _describe(timer, context) | ({} if note == self.text else {"text": note})

    def _write_note(self, context: ToolContext) -> str:
        """Return the text, or the person's own words for it if it tells of what was not shown: models invent names.

        In a waking there are no such words, and ToolError is raised. A wish of the companion's own may be of any thing,
        but names nobody, no number and no day that was not shown.
        """
        timers.get_zone(context.companion)  # raises TimerError before anything is read in an unknown zone
        shown = Shown(context)
        if shown.holds_names(self.text) and (not self.they_asked or shown.holds_things(self.text)):
            return self.text
        if context.message is None:
            raise ToolError(REFUSED.format(what=self.text))
        said = [message.text for message in context.history if message.role == Message.Role.USER]
        texts = [context.message.text, *said[: -MAX_BEFORE - 1 : -1]]
        found = find_sentence(texts, self.text, context.companion) or context.message.text
        return shorten(found, NOTE_CHARACTERS)


class ListTimers(Tool):
    """List your timers."""

    name = "list_timers"
    under_way = _("%(name)s is looking at the reminders")
    done = _("looked at the timers")

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        planned = list(timers.get_planned(context.companion.pk))
        entries = [
            {"timer": str(timer.pk)[:ID_CHARACTERS], "they_asked": timer.is_asked_for}
            | _describe(timer, context)
            | {"text": shorten(timer.note, MAX_NOTE_CHARACTERS)}
            for timer in planned
        ]
        given = take_fitting(entries, count_tokens_left(context))
        context.shown_ids.update(timer.pk for timer in planned[: len(given)])
        return {"timers": given, "more": len(planned) - len(given)}


class CancelTimer(Tool):
    """Cancel a timer."""

    name = "cancel_timer"
    writes = True
    under_way = _("%(name)s is cancelling a reminder")
    done = _("cancelled a timer")

    timer: str = Field(min_length=1, max_length=200, description="Its id, of list_timers, or its text.")

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        named = folded(self.timer.strip())
        planned = list(timers.get_planned(context.companion.pk))
        found = [
            timer for timer in planned if len(named) >= ID_CHARACTERS and str(timer.pk).startswith(named)
        ]
        found = found or [
            timer for timer in planned if named and folded(timer.note.strip(" .")) == named.strip(" .")
        ]
        refuse_several([timer.note for timer in found])
        if not found:
            raise ToolError("There is no such timer. Call list_timers for their ids.")
        [timer] = found
        timers.cancel(timer, now)
        return {
            "cancelled": str(timer.pk)[:ID_CHARACTERS],
            "text": shorten(timer.note, MAX_NOTE_CHARACTERS),
        }


def _describe(timer: Timer, context: ToolContext) -> dict[str, Any]:
    """Return the timer's schedule in words and its next time, in the person's time zone; no id.

    Models would read an id out.
    """
    zone, language = timers.get_zone(context.companion), context.companion.user.language
    described = {"when": timers.describe(timer, zone, language)}
    if timer.due_at:
        described["next"] = f"{timer.due_at.astimezone(zone):%a %Y-%m-%d %H:%M}"
    return described
