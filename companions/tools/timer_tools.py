"""The tools `set_timer`, `list_timers` and `cancel_timer`: moments to wake at."""

from datetime import datetime
from typing import Any

from django.db import transaction
from pydantic import BaseModel, Field

from companions.life import timers
from companions.models import Timer
from companions.tools.bounds import fitting, room
from companions.tools.tool import Tool, ToolContext, ToolError
from text.storable import shorten

ID_CHARACTERS = 8  # enough to tell a few dozen timers from each other
NOTE_SHOWN = 200


class SetIn(BaseModel):
    """Set a timer that wakes you then: to remind the person of something, or for yourself."""

    schedule: str = Field(
        min_length=1,
        max_length=120,
        description="30s, 5min, 2h, 1d, once:2026-04-10 09:00, or cron:0 8 * * 1-5; their local time.",
    )
    note: str = Field(min_length=1, max_length=1000, description="What for.")
    they_asked: bool = Field(True, description="False where it is your own wish.")


class ListIn(BaseModel):
    """List your timers."""


class CancelIn(BaseModel):
    """Cancel a timer."""

    timer: str = Field(min_length=ID_CHARACTERS, max_length=36, description="Its id.")


@transaction.atomic
def _set(context: ToolContext, arguments: SetIn, now: datetime) -> dict[str, Any]:
    context.hold()
    timer = timers.set_timer(
        context.companion,
        arguments.schedule,
        arguments.note,
        by=Timer.By.COMPANION,
        now=now,
        is_asked_for=arguments.they_asked,
        message=context.message,
        waking=context.waking,
    )
    return _told(context, timer)


def _list(context: ToolContext, arguments: ListIn, now: datetime) -> dict[str, Any]:
    planned = list(timers.get_planned(context.companion.pk))
    told = [_told(context, one) | {"text": shorten(one.note, NOTE_SHOWN)} for one in planned]
    given = fitting(told, room(context))
    context.shown.update(one.pk for one in planned[: len(given)])
    return {"timers": given, "more": len(planned) - len(given)}


@transaction.atomic
def _cancel(context: ToolContext, arguments: CancelIn, now: datetime) -> dict[str, Any]:
    context.hold()
    wanted = arguments.timer.strip().lower()
    found = [one for one in timers.get_planned(context.companion.pk) if str(one.pk).startswith(wanted)]
    if len(found) != 1 or len(wanted) < ID_CHARACTERS:
        raise ToolError("There is no such timer. Call list_timers for their ids.")
    timers.cancel(found[0], now)
    return {"cancelled": str(found[0].pk)[:ID_CHARACTERS], "text": shorten(found[0].note, NOTE_SHOWN)}


def _told(context: ToolContext, timer: Timer) -> dict[str, Any]:
    """The timer's short id, when it is due in words, and when next, in the person's zone."""
    zone, language = timers.get_zone(context.companion), context.companion.user.language
    told = {"timer": str(timer.pk)[:ID_CHARACTERS], "when": timers.describe(timer, zone, language)}
    return told | ({"next": f"{timer.due_at.astimezone(zone):%Y-%m-%d %H:%M:%S}"} if timer.due_at else {})


TOOLS = [
    Tool("set_timer", SetIn, _set),
    Tool("list_timers", ListIn, _list),
    Tool("cancel_timer", CancelIn, _cancel),
]
