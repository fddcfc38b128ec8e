"""The admin of companions' models and their settings, and of comparisons of two models."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from companions.minds.comparison.report import describe_report, describe_weight
from companions.minds.presets import load_presets
from companions.minds.sampling import PARAMETERS
from companions.models import ComparedExchange, Comparison, Mind
from safety.admin import PrivateAdmin, code_column, code_filter, link, moment
from safety.descriptions import render_data

ERROR = code_column("error", _("error"))


@admin.register(Mind)
class MindAdmin(PrivateAdmin):
    """A companion's model and its sampling settings."""

    titled_by = "companion_called"
    search_ids = ("pk",)
    list_display = ("page", "owner", "of_companion", "model", "allows_stand_in", "context_tokens")
    ordering = ("-pk",)
    list_filter = ("model", "allows_stand_in")
    fields = (
        *("owner", "of_companion", "model", "prompt_version", "background_model", "allows_stand_in"),
        *("declined_model", "asks_again_at", "manner", "values", "context_tokens"),
    )

    @admin.display(description=_("preset"))
    def manner(self, mind: Mind) -> str:
        preset = load_presets(get_language() or "en").get(mind.preset)
        return preset.name if preset else mind.preset or "–"

    @admin.display(description=_("sampling values"))
    def values(self, mind: Mind) -> str:
        """Return the companion's own sampling values (not the preset's), each by the label that its user sees."""
        named = {
            str(PARAMETERS[name].label) if name in PARAMETERS else name: value
            for name, value in mind.sampling.items()
        }
        return render_data(named)


@admin.register(Comparison)
class ComparisonAdmin(PrivateAdmin):
    """A comparison of two models: its progress and its report."""

    named_by = "created_at"
    titled_by = "companion_called"
    search_ids = ("pk", "companion")
    list_display = (
        moment("created_at", _("requested")),
        *("owner", "of_companion", ERROR),
        moment("ended_at", _("ended")),
    )
    list_filter = (("error", code_filter()), "created_at")
    fields = (
        *("id", "owner", "of_companion", "own_model", "other_model", ERROR, "attempts"),
        *("next_at", "created_at", "ended_at"),
    )
    private_template = "admin/companions/comparison.html"

    def private(self, request: HttpRequest, thing: Comparison) -> dict[str, Any]:
        """Return the report of the comparison as its user reads it."""
        has_measures = bool(thing.report.get("measures"))
        return {
            "comparison": thing,
            "weight": describe_weight(thing.report) if has_measures else "",
            "lines": describe_report(thing.report),
        }


@admin.register(ComparedExchange)
class ComparedExchangeAdmin(PrivateAdmin):
    """The answers of both models to one prompt."""

    owner_path = "comparison__companion__user"
    titled_by = "comparison_called"
    words = ("own_text", "other_text")
    search_ids = ("pk", "comparison", "prompt")
    list_display = ("page", "owner", "of_comparison", "of_prompt")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_comparison", "of_prompt")

    of_comparison = link("comparison", _("comparison of models"))
    of_prompt = link("prompt", _("prompt"))
