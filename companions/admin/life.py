"""Timers, wakings, inner states, what a companion may do between talks, and deliveries."""

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import action, display

from companions.admin.reply import mark_lines, pretty
from companions.errors import TimerError
from companions.life import timers, waking
from companions.models import Delivery, InnerState, Life, Timer, Waking
from safety.admin import PrivateAdmin, link_to, moment
from safety.audit import record
from safety.models import AuditEntry

TIMER_COLOURS = {Timer.State.ACTIVE: "success", Timer.State.DEAD_LETTER: "danger"}
WAKING_COLOURS = {
    Waking.State.DONE: "success",
    Waking.State.FAILED: "danger",
    Waking.State.WAITING: "info",
}


class DeedsAdmin(PrivateAdmin):
    """An admin with deeds on chosen things, each on record; what cannot be done is told and leaves no entry."""

    def done(self, request: Any, queryset: QuerySet[Any], deed: Any) -> None:
        """Do it to each of them, one transaction each, and say how many it was done to."""
        did = sum(self._done(request, thing, deed, timezone.now()) for thing in queryset)
        left = queryset.count() - did
        if did:
            messages.success(request, ngettext("Done for %(n)d.", "Done for %(n)d.", did) % {"n": did})
        if left:
            told = ngettext("%(n)d is not in a state for that.", "%(n)d are not in a state for that.", left)
            messages.warning(request, told % {"n": left})

    def _done(self, request: Any, thing: Any, deed: Any, now: datetime) -> bool:
        try:
            with transaction.atomic():
                is_done = bool(deed(thing, now))
                if is_done:
                    changed = AuditEntry.Deed.CHANGED
                    record(request.user, changed, self.model, thing.pk, self.owner_of(thing.pk))
        except TimerError:
            return False
        return is_done


@admin.register(Timer)
class TimerAdmin(DeedsAdmin):
    """A future moment: when it is due, who set it; those set aside can be set again, and any that runs be fired."""

    words = ("note", "schedule")
    actions = ("fire", "again")
    list_display = (
        *("short_id", "owner", "of_companion", "shown_state", "name", "by", "is_asked_for"),
        *(moment("due_at", _("next due")), "attempts", "error", moment("created_at", _("made"))),
    )
    list_filter = ("state", "error", "by", "name", "is_asked_for", "created_at")
    search_ids = ("pk", "companion", "message", "waking")
    fields = (
        *("id", "owner", "of_companion", "name", "by", "is_asked_for", "state", "due_at", "look_at"),
        *("attempts", "error", "message", "waking", "created_at", "ended_at"),
    )

    @display(description=_("state"), ordering="state", label=TIMER_COLOURS)  # type: ignore[untyped-decorator]
    def shown_state(self, timer: Timer) -> tuple[str, str]:
        return timer.state, timer.get_state_display()

    def has_deed_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("companions.change_timer"))

    @action(description=_("Fire now"), permissions=["deed"])  # type: ignore[untyped-decorator]
    def fire(self, request: HttpRequest, queryset: QuerySet[Timer]) -> None:
        """Wake for each of them now; their own due times stay."""
        self.done(request, queryset, timers.fire)

    @action(description=_("Set again"), permissions=["deed"])  # type: ignore[untyped-decorator]
    def again(self, request: HttpRequest, queryset: QuerySet[Timer]) -> None:
        """Let those that were set aside or cancelled run again, from now on."""
        self.done(request, queryset, timers.restart)


@admin.register(Waking)
class WakingAdmin(DeedsAdmin):
    """A waking and its whole trace: why, what was sent, what it used and thought, what it said or wanted to."""

    words = ("note", "thought", "text")
    actions = ("again", "cancel")
    list_display = (
        *("short_id", "owner", "of_companion", "origin", "drive", "shown_state", "outcome", "reason"),
        *("missed", "attempts", moment("due_at", _("due")), moment("ended_at", _("ended"))),
    )
    list_filter = ("state", "outcome", "reason", "origin", "drive", "is_asked_for", "due_at")
    search_ids = ("pk", "companion", "timer")
    ordering = ("-due_at",)
    fields = (
        *("id", "owner", "of_companion", "of_timer", "origin", "drive", "is_asked_for", "due_at"),
        *("missed", "missed_since", "state", "outcome", "reason", "attempts", "look_at"),
        *("of_message", "created_at", "started_at", "ended_at"),
    )
    private_template = "admin/companions/waking.html"

    @display(description=_("state"), ordering="state", label=WAKING_COLOURS)  # type: ignore[untyped-decorator]
    def shown_state(self, waking: Waking) -> tuple[str, str]:
        return waking.state, waking.get_state_display()

    @admin.display(description=_("timer"))
    def of_timer(self, waking: Waking) -> str:
        return link_to("companions.timer", waking.timer_id)

    @admin.display(description=_("message"))
    def of_message(self, waking: Waking) -> str:
        message = getattr(waking, "message", None)
        return link_to("companions.message", message.pk if message else None)

    def has_deed_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("companions.change_waking"))

    @action(description=_("Try again"), permissions=["deed"])  # type: ignore[untyped-decorator]
    def again(self, request: HttpRequest, queryset: QuerySet[Waking]) -> None:
        """Let those that failed go on from where they were."""
        self.done(request, queryset, waking.retry)

    @action(description=_("Cancel"), permissions=["deed"])  # type: ignore[untyped-decorator]
    def cancel(self, request: HttpRequest, queryset: QuerySet[Waking]) -> None:
        """Have those not happen that wait."""
        self.done(request, queryset, waking.cancel)

    def private(self, request: HttpRequest, thing: Waking) -> dict[str, Any]:
        return super().private(request, thing) | {
            "lines": mark_lines(thing.prompt),
            "steps": [
                step | {"arguments": pretty(step["arguments"]), "result": pretty(step["result"])}
                for step in thing.steps
            ],
        }


@admin.register(InnerState)
class InnerStateAdmin(PrivateAdmin):
    """How a companion felt and saw the present, in its own words."""

    words = ("text",)
    list_display = (
        *("short_id", "owner", "of_companion", "number", "by", "emotion", "valence", "arousal"),
        moment("made_at", _("made")),
    )
    list_filter = ("by", "emotion", "made_at")
    search_ids = ("pk", "companion", "waking")
    fields = (
        *("id", "owner", "of_companion", "number", "by", "emotion", "intensity", "valence", "arousal"),
        *("until_at", "waking", "made_at"),
    )


@admin.register(Life)
class LifeAdmin(PrivateAdmin):
    """What a person lets a companion do between talks."""

    search_ids = ("pk",)
    list_display = (
        *("of_companion", "owner", "is_awake", "reaches_out", "is_muted", "most_a_day"),
        *("by_email", "by_push", "reflect_attempts", moment("drives_at", _("next look for drives"))),
    )
    list_display_links = None
    list_filter = ("is_awake", "reaches_out", "is_muted", "by_email", "by_push")
    fields = (
        *("owner", "of_companion", "is_awake", "reaches_out", "is_muted", "most_a_day"),
        *("quiet_from", "quiet_until", "sleeps_from", "sleeps_until", "by_email", "by_push"),
        *("drives_at", "reflect_at", "reflect_attempts"),
    )


@admin.register(Delivery)
class DeliveryAdmin(PrivateAdmin):
    """One message on its way to its person: by which channel, how far it came, and what went wrong."""

    list_display = (
        *("short_id", "owner", "of_companion", "of_message", "channel", "state", "error"),
        *(moment("due_at", _("due")), moment("attempted_at", _("attempted")), moment("ended_at", _("ended"))),
    )
    list_filter = ("state", "channel", "error", "due_at")
    search_ids = ("pk", "companion", "message")
    ordering = ("-due_at",)
    fields = (
        *("id", "owner", "of_companion", "message", "channel", "destination", "state", "due_at"),
        *("attempted_at", "ended_at", "error"),
    )

    @admin.display(description=_("message"))
    def of_message(self, delivery: Delivery) -> str:
        return link_to("companions.message", delivery.message_id)
