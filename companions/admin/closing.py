from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import action, display

from companions.models import Closing
from companions.sessions.again import try_again
from safety.admin import PrivateAdmin, link_to, moment
from safety.audit import record
from safety.models import AuditEntry

COLOURS = {
    Closing.State.DONE: "success",
    Closing.State.FAILED: "danger",
    Closing.State.WAITING: "info",
}


@admin.register(Closing)
class ClosingAdmin(PrivateAdmin):
    """The end of a session: how far it is, what went wrong, and another try for those that failed."""

    words = ("drafts",)
    actions = ("again",)
    list_display = (
        *("short_id", "owner", "of_companion", "of_session", "shown_state", "is_forgetful", "attempts"),
        *("error", moment("asked_at", _("asked")), moment("next_at", _("next try"))),
        moment("ended_at", _("ended")),
    )
    list_filter = ("state", "error", "is_forgetful", "asked_at")
    search_ids = ("pk", "companion", "session", "job")
    fields = (
        *("id", "owner", "of_companion", "session", "job", "until_at", "is_forgetful", "state"),
        *("attempts", "error", "asked_at", "next_at", "ended_at"),
    )

    @display(description=_("state"), ordering="state", label=COLOURS)  # type: ignore[untyped-decorator]
    def shown_state(self, closing: Closing) -> tuple[str, str]:
        return closing.state, closing.get_state_display()

    @admin.display(description=_("session"))
    def of_session(self, closing: Closing) -> str:
        return link_to("companions.session", closing.session_id)

    def has_again_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("companions.change_closing"))

    @action(description=_("Try again"), permissions=["again"])  # type: ignore[untyped-decorator]
    def again(self, request: HttpRequest, queryset: QuerySet[Closing]) -> None:
        """Those that failed are tried again, each on record."""
        tried = sum(self._tried(request, closing) for closing in queryset)
        left = queryset.count() - tried
        if tried:
            told = ngettext("%(n)d closing is tried again.", "%(n)d closings are tried again.", tried)
            messages.success(request, told % {"n": tried})
        if left:
            told = ngettext(
                "%(n)d closing had not failed, or its session has ended since.",
                "%(n)d closings had not failed, or their sessions have ended since.",
                left,
            )
            messages.warning(request, told % {"n": left})

    def _tried(self, request: Any, closing: Closing) -> bool:
        with transaction.atomic():
            is_tried = try_again(closing.pk, timezone.now())
            if is_tried:
                record(request.user, AuditEntry.Deed.CHANGED, Closing, closing.pk, self.owner_of(closing.pk))
        return is_tried
