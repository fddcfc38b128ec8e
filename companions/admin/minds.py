"""Operators' pages of which model speaks for a companion, and of its comparisons with another."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from companions.models import ComparedExchange, Comparison, Mind
from safety.admin import PrivateAdmin, link, moment


@admin.register(Mind)
class MindAdmin(PrivateAdmin):
    """Which model speaks for a companion, and how it chooses its words."""

    search_ids = ("pk",)
    list_display = ("of_companion", "owner", "model", "allows_stand_in", "context_tokens")
    list_display_links = None
    list_filter = ("model", "allows_stand_in")
    fields = (
        *("owner", "of_companion", "model", "prompt_version", "background_model", "allows_stand_in"),
        *("declined_model", "asks_again_at", "preset", "sampling", "context_tokens"),
    )


@admin.register(Comparison)
class ComparisonAdmin(PrivateAdmin):
    """How far a comparison of two models is, and its numbers."""

    named_by = "created_at"
    search_ids = ("pk", "companion")
    list_display = (
        moment("created_at", _("asked")),
        *("owner", "of_companion", "error"),
        moment("ended_at", _("ended")),
    )
    list_filter = ("error", "created_at")
    fields = (
        *("id", "owner", "of_companion", "own_model", "other_model", "report", "error", "attempts"),
        *("next_at", "created_at", "ended_at"),
    )


@admin.register(ComparedExchange)
class ComparedExchangeAdmin(PrivateAdmin):
    """What either model answered to one prompt."""

    owner_path = "comparison__companion__user"
    words = ("own_text", "other_text")
    search_ids = ("pk", "comparison", "prompt")
    list_display = ("page", "owner", "of_comparison", "of_prompt")
    ordering = ("-pk",)
    fields = ("id", "owner", "comparison", "prompt")

    of_comparison = link("comparison", _("comparison of models"))
    of_prompt = link("prompt", _("prompt"))
