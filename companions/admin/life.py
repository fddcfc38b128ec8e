"""The admin of timers, wakings, inner states, the settings of companions' lives, and deliveries."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from companions.admin.reply import format_call, mark_lines
from companions.life.timers import timers
from companions.life.wakings import waking
from companions.models import Delivery, InnerState, Life, Message, Timer, Waking
from companions.models.waking import describe_drive
from safety.admin import (
    ActionAdmin,
    PrivateAdmin,
    code_column,
    code_filter,
    describe_name,
    link,
    link_to,
    moment,
    state,
)

TIMER_COLOURS = {Timer.State.ACTIVE: "success", Timer.State.DEAD_LETTER: "danger"}
MAX_WAKINGS = 20
WAKING_COLOURS = {
    Waking.State.DONE: "success",
    Waking.State.FAILED: "danger",
    Waking.State.WAITING: "info",
}


def describe_origin(origin: str) -> str:
    """Return what woke the companion; a drive is called as its column is."""
    return gettext("an occasion") if origin == Waking.Origin.DRIVE else str(Waking.Origin(origin).label)


DRIVES_AT = moment("drives_at", _("next look for occasions"))
NAME, ERROR = code_column("name", _("predefined as")), code_column("error", _("error"))
DRIVE, REASON = code_column("drive", _("occasion"), describe_drive), code_column("reason", _("reason"))
ORIGIN = code_column("origin", _("woken by"), describe_origin)
NEXT_TRY = moment("look_at", _("next attempt"))
CHANNEL = code_column("channel", _("channel"))


class LifeActionAdmin(ActionAdmin):
    """An admin that reports the results of all its actions in the same words."""

    def act_and_report(self, request: HttpRequest, queryset: QuerySet[Any], change: Any) -> None:
        """Apply `change` to each row, and show for how many it was done and for how many it was not."""
        did, left = self.act(request, queryset, change)
        if did:
            messages.success(request, ngettext("Done for %(n)d.", "Done for %(n)d.", did) % {"n": did})
        if left:
            text = ngettext(
                "This is not possible for %(n)d in its current state.",
                "This is not possible for %(n)d in their current state.",
                left,
            )
            messages.warning(request, text % {"n": left})


@admin.register(Timer)
class TimerAdmin(LifeActionAdmin):
    """A timer: when it is due and who set it. Stopped timers can be set again, and running ones fired at once."""

    named_by = "created_at"
    titled_by = "note"
    words = ("note", "schedule")
    actions = ("fire", "again")
    offered_in = {
        "fire": (Timer.State.ACTIVE,),
        "again": (Timer.State.CANCELLED, Timer.State.DEAD_LETTER),
    }
    list_display = (
        moment("created_at", _("created")),
        *("owner", "of_companion", "shown_state", NAME, "by", "is_asked_for"),
        *(moment("due_at", _("next due")), "attempts", ERROR),
    )
    list_filter = (
        *("state", ("error", code_filter()), "by", ("name", code_filter())),
        *("is_asked_for", "created_at"),
    )
    search_ids = ("pk", "companion", "message", "waking")
    private_template = "admin/companions/timer.html"
    fields = (
        *("id", "owner", "of_companion", NAME, "by", "is_asked_for", "state", "due_at", NEXT_TRY),
        *("attempts", ERROR, "of_message", "of_waking", "created_at", "ended_at"),
    )

    shown_state = state(TIMER_COLOURS)
    of_message = link("message", _("set in answer to"))
    of_waking = link("waking", _("set in waking"))

    @action(description=_("Fire now"), permissions=["act"])  # type: ignore[untyped-decorator]
    def fire(self, request: HttpRequest, queryset: QuerySet[Timer]) -> None:
        """Wake the companion for each selected timer now; the timers' due times stay."""
        self.act_and_report(request, queryset, timers.fire)

    @action(description=_("Set again"), permissions=["act"])  # type: ignore[untyped-decorator]
    def again(self, request: HttpRequest, queryset: QuerySet[Timer]) -> None:
        """Restart the selected timers that were cancelled or are dead letters, counting from now."""
        self.act_and_report(request, queryset, timers.restart)

    def private(self, request: HttpRequest, thing: Timer) -> dict[str, Any]:
        """Return also the timer's newest wakings, which tell why a reminder was sent or not."""
        wakings = thing.wakings.order_by("-due_at").only("due_at", "state", "outcome", "reason")
        return super().private(request, thing) | {"wakings": wakings[:MAX_WAKINGS]}


@admin.register(Waking)
class WakingAdmin(LifeActionAdmin):
    """A waking with its whole trace: reason, prompt, tool calls, thought, and what it said or would have said."""

    named_by = "due_at"
    titled_by = "note"
    words = ("note", "thought", "text")
    actions = ("again", "cancel")
    offered_in = {"again": (Waking.State.FAILED,), "cancel": (Waking.State.WAITING,)}
    list_display = (
        moment("due_at", _("due")),
        *("owner", "of_companion", ORIGIN, DRIVE, "shown_state", "outcome", REASON),
        *("missed", "attempts", moment("ended_at", _("ended"))),
    )
    list_filter = (
        *(
            "state",
            "outcome",
            ("reason", code_filter()),
            ("origin", code_filter(describe_origin, _("woken by"))),
        ),
        *(("drive", code_filter(describe_drive, _("occasion"))), "is_asked_for", "due_at"),
    )
    search_ids = ("pk", "companion", "timer")
    ordering = ("-due_at",)
    fields = (
        *("id", "owner", "of_companion", "of_timer", ORIGIN, DRIVE, "is_asked_for", "due_at"),
        *("missed", "missed_since", "state", "outcome", REASON, "attempts", NEXT_TRY),
        *("model", "is_stand_in", "of_message", "created_at", "started_at", "ended_at"),
    )
    private_template = "admin/companions/waking.html"
    linked = {"message": Message}

    shown_state = state(WAKING_COLOURS)
    of_timer = link("timer", _("timer"))

    @admin.display(description=_("message"))
    def of_message(self, waking: Any) -> str:
        message = getattr(waking, "message", None)
        if message is None:
            return "–"
        name = describe_name(message.said_at)
        return link_to("companions.message", message.pk, name, opens=waking.message_opens)

    @action(description=_("Try again"), permissions=["act"])  # type: ignore[untyped-decorator]
    def again(self, request: HttpRequest, queryset: QuerySet[Waking]) -> None:
        """Retry the selected wakings that failed; steps that were done are not repeated."""
        self.act_and_report(request, queryset, waking.retry)

    @action(description=_("Cancel"), permissions=["act"])  # type: ignore[untyped-decorator]
    def cancel(self, request: HttpRequest, queryset: QuerySet[Waking]) -> None:
        """Cancel the selected wakings that still wait."""
        self.act_and_report(request, queryset, waking.cancel)

    def private(self, request: HttpRequest, thing: Waking) -> dict[str, Any]:
        return super().private(request, thing) | {
            "lines": mark_lines(thing.prompt),
            "steps": [{"round": step["round"], **format_call(step)} for step in thing.steps],
        }


@admin.register(InnerState)
class InnerStateAdmin(PrivateAdmin):
    """A revision of a companion's inner state: how it felt and saw the present, in its own words."""

    named_by = "made_at"
    titled_by = "text"
    words = ("text",)
    list_display = (
        moment("made_at", _("created")),
        *("owner", "of_companion", "number", "by", "emotion", "valence", "arousal"),
    )
    list_filter = ("by", "emotion", "made_at")
    search_ids = ("pk", "companion", "waking")
    fields = (
        *("id", "owner", "of_companion", "number", "by", "emotion", "intensity", "valence", "arousal"),
        *(moment("until_at", _("knew what was said until")), "of_waking", "made_at"),
    )

    of_waking = link("waking", _("waking"))


@admin.register(Life)
class LifeAdmin(PrivateAdmin):
    """A user's settings for what a companion may do between conversations."""

    titled_by = "companion_called"
    search_ids = ("pk",)
    list_display = (
        *("page", "owner", "of_companion", "is_awake", "reaches_out", "is_muted", "most_a_day"),
        *("by_email", "by_push", "reflect_attempts", DRIVES_AT),
    )
    ordering = ("-pk",)
    list_filter = ("is_awake", "reaches_out", "is_muted", "by_email", "by_push")
    fields = (
        *("owner", "of_companion", "is_awake", "reaches_out", "is_muted", "most_a_day"),
        *("quiet_from", "quiet_until", "sleeps_from", "sleeps_until", "by_email", "by_push"),
        *(DRIVES_AT, "reflect_at", "reflect_attempts"),
    )


@admin.register(Delivery)
class DeliveryAdmin(PrivateAdmin):
    """The delivery of one message to its user: by which channel, its state, and its error if any."""

    named_by = "due_at"
    list_display = (
        moment("due_at", _("due")),
        *("owner", "of_companion", "of_message", CHANNEL, "state", ERROR),
        *(moment("attempted_at", _("attempted")), moment("ended_at", _("ended"))),
    )
    list_filter = ("state", ("channel", code_filter()), ("error", code_filter()), "due_at")
    search_ids = ("pk", "companion", "message")
    ordering = ("-due_at",)
    fields = (
        *("id", "owner", "of_companion", "of_message", CHANNEL, "destination", "state", "due_at"),
        *("attempted_at", "ended_at", ERROR),
    )

    of_message = link("message", _("message"))
