"""The admin of consolidation runs and their changes, of goals and ideas, and of threads."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import action

from memory.consolidation.runs import retry
from memory.models import Change, Consolidation, Pursuit, Thread
from memory.models.consolidation import ConsolidationQuerySet
from safety.admin import (
    ActionAdmin,
    PrivateAdmin,
    code_column,
    code_filter,
    data_column,
    link,
    moment,
    number,
    state,
    yes_filter,
)
from safety.descriptions import describe_status

ERROR = code_column("error", _("error"))
COLOURS = {
    Consolidation.State.DONE: "success",
    Consolidation.State.FAILED: "danger",
    Consolidation.State.WAITING: "info",
}


# Leaves the nights which the admin's home page counts.
UnmendedFilter = yes_filter(
    "is_unmended", _("failed, and no later night made up for it"), ConsolidationQuerySet.unmended
)


@admin.register(Consolidation)
class ConsolidationAdmin(ActionAdmin):
    """A consolidation run, and all its changes."""

    named_by = "night_of"
    annotations = {"count": Count("changes")}
    actions = ("again",)
    offered_in = {"again": (Consolidation.State.FAILED,)}
    list_display = (
        *("night_of", "owner", "of_companion", "shown_state", number("count", _("changes"))),
        *("attempts", ERROR, moment("next_at", _("next attempt")), moment("ended_at", _("ended"))),
    )
    list_filter = ("state", UnmendedFilter, ("error", code_filter()), "night_of")
    fields = (
        *("id", "owner", "of_companion", "night_of", "state", "attempts", ERROR, "of_call"),
        *("asked_at", "next_at", "ended_at"),
    )
    private_template = "admin/memory/consolidation.html"

    of_call = link("call", _("model call"))

    shown_state = state(COLOURS)

    @action(description=_("Try again"), permissions=["act"])  # type: ignore[untyped-decorator]
    def again(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        """Begin the selected nights that failed anew."""
        begun, left = self.act(request, queryset, lambda night, now: retry(night.companion_id, night.pk, now))
        if begun:
            text = ngettext("%(n)d night will be tried again.", "%(n)d nights will be tried again.", begun)
            messages.success(request, text % {"n": begun})
        if left:
            text = ngettext(
                "%(n)d night had not failed, or a later one makes up for it.",
                "%(n)d nights had not failed, or later ones make up for them.",
                left,
            )
            messages.warning(request, text % {"n": left})

    def private(self, request: HttpRequest, thing: Consolidation) -> dict[str, Any]:
        changes = thing.changes.select_related("memory").prefetch_related("others").order_by("number")
        return {"deeds": changes}


@admin.register(Change)
class ChangeAdmin(PrivateAdmin):
    """One change that a consolidation run made, with the memories behind it and what undoes it."""

    titled_by = "memory.text"
    list_display = (
        *("page", "owner", "of_companion", "of_night", "number", "kind", "of_memory", "settled"),
        moment("undone_at", _("undone")),
    )
    list_filter = ("kind", "settled", ("undone_at", admin.EmptyFieldListFilter))
    search_ids = ("pk", "companion", "consolidation", "memory")
    ordering = ("-consolidation__night_of", "number")
    fields = (
        *("id", "owner", "of_companion", "of_night", "number", "kind", "of_memory"),
        *(data_column("before", _("data for undoing it"), describe_status), "settled", "undone_at"),
    )
    private_template = "admin/memory/change.html"

    of_night = link("consolidation", _("night"))
    of_memory = link("memory", _("memory"))

    def private(self, request: HttpRequest, thing: Change) -> dict[str, Any]:
        return {"deed": thing}


@admin.register(Pursuit)
class PursuitAdmin(PrivateAdmin):
    """The progress of a goal or an idea."""

    titled_by = "memory.text"
    list_display = (
        *("page", "owner", "of_companion", "of_memory", "status", "progress", "excitement", "origin"),
        moment("reviewed_at", _("reviewed")),
    )
    list_filter = ("status", "origin", "reviewed_at")
    search_ids = ("pk", "companion", "memory")
    ordering = ("-pk",)
    fields = (
        *("id", "owner", "of_companion", "of_memory", "of_whole", "status", "progress", "excitement"),
        *("origin", "reviewed_at", "moved_at"),
    )
    private_template = "admin/memory/pursuit.html"

    of_memory = link("memory", _("memory"))
    of_whole = link("parent", _("part of"))

    def private(self, request: HttpRequest, thing: Pursuit) -> dict[str, Any]:
        return {"lines": [thing.memory], "parts": [thing.parent] if thing.parent else []}


@admin.register(Thread)
class ThreadAdmin(PrivateAdmin):
    """What is or was open between a companion and its person."""

    named_by = "opened_at"
    titled_by = "memory.text"
    list_display = (
        moment("opened_at", _("open since")),
        *("owner", "of_companion", "of_memory", "state", "due_on"),
        moment("closed_at", _("closed")),
    )
    list_filter = ("state", "due_on")
    search_ids = ("pk", "companion", "memory")
    ordering = ("-opened_at",)
    fields = (
        *("id", "owner", "of_companion", "of_memory", "state", "due_on", "opened_at", "closed_at"),
        "of_settling",
    )
    private_template = "admin/memory/thread.html"

    of_memory = link("memory", _("memory"))
    of_settling = link("settled_by", _("settled by"))

    def private(self, request: HttpRequest, thing: Thread) -> dict[str, Any]:
        return {"lines": [thing.memory]}
