from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from companions.models import Delivery, InnerState, Life
from safety.admin import PrivateAdmin, link_to, moment


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
