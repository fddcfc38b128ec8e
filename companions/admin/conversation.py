"""Conversations, sessions and their ends, and messages."""

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import action, display

from companions.deletion import delete_message
from companions.models import Closing, Conversation, Message, Reply, Session
from companions.sessions.requests import try_again
from memory.models import Memory
from safety.admin import PrivateAdmin, link_to, marks, moment
from safety.audit import record
from safety.models import AuditEntry

MESSAGES_PER_PAGE = 50


def said_in(messages: QuerySet[Message], request: HttpRequest) -> Page[Message]:
    """The page of these messages that the request asks for, newest first."""
    return Paginator(messages.order_by("-said_at", "-created_at"), MESSAGES_PER_PAGE).get_page(
        request.GET.get("said")
    )


@admin.register(Conversation)
class ConversationAdmin(PrivateAdmin):
    """All that was said with a companion, in every branch."""

    list_display = ("short_id", "owner", "of_companion", "of_head", moment("created_at", _("made")))
    list_filter = ("created_at",)
    ordering = ("-created_at",)
    fields = ("id", "owner", "of_companion", "head", "created_at")
    private_template = "admin/companions/said.html"

    @admin.display(description=_("newest message"))
    def of_head(self, conversation: Conversation) -> str:
        return link_to("companions.message", conversation.head_id)

    def private(self, request: HttpRequest, thing: Conversation) -> dict[str, Any]:
        return {"said": said_in(thing.messages.all(), request)}


@admin.register(Session)
class SessionAdmin(PrivateAdmin):
    """What was said in one stretch, and what was summed up and noted of it."""

    words = ("title", "summary", "scratch")
    annotations = {"count": Count("messages")}
    list_display = (
        "short_id",
        "owner",
        "of_companion",
        moment("started_at", _("started")),
        moment("ended_at", _("ended")),
        "count",
        "pressure",
        "digest_attempts",
    )
    list_filter = (("ended_at", admin.EmptyFieldListFilter), "started_at")
    search_ids = ("pk", "companion", "conversation")
    fields = (
        *("id", "owner", "of_companion", "conversation", "started_at", "ended_at"),
        *("summarised_until", "unsent", "pressure", "digest_at", "digest_attempts"),
    )
    private_template = "admin/companions/said.html"

    @admin.display(description=_("messages"), ordering="count")
    def count(self, session: Any) -> int:
        return int(session.count)

    def private(self, request: HttpRequest, thing: Session) -> dict[str, Any]:
        return super().private(request, thing) | {"said": said_in(thing.messages.all(), request)}


CLOSING_COLOURS = {
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

    @display(description=_("state"), ordering="state", label=CLOSING_COLOURS)  # type: ignore[untyped-decorator]
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


@admin.register(Message)
class MessageAdmin(PrivateAdmin):
    """One thing said, the replies to it, and what is remembered of it. It may be deleted, from everywhere."""

    is_erasable = True
    words = ("author", "text")
    annotations = {"length": Length("text")}
    list_display = (
        *("short_id", "owner", "of_companion", "role", "length"),
        *(moment("said_at", _("said")), moment("created_at", _("stored")), "marks"),
    )
    list_filter = (
        "role",
        "is_hidden",
        "is_rehearsed",
        ("job", admin.EmptyFieldListFilter),
        "said_at",
        "created_at",
    )
    search_ids = ("pk", "companion", "session", "job")
    fields = (
        *("id", "owner", "of_companion", "conversation", "session", "parent", "role", "said_at"),
        *("created_at", "is_hidden", "is_rehearsed", "client_id", "job", "of_maker"),
    )
    private_template = "admin/companions/message.html"

    @admin.display(description=_("characters"), ordering="length")
    def length(self, message: Any) -> int:
        return int(message.length)

    @admin.display(description=_("marks"))
    def marks(self, message: Message) -> str:
        return marks(message, {"is_hidden": _("hidden from prompts"), "is_rehearsed": _("rehearsed")})

    @admin.display(description=_("made by reply"))
    def of_maker(self, message: Message) -> str:
        maker = Reply.objects.filter(answer=message).values_list("pk", flat=True).first()
        return link_to("companions.reply", maker)

    def erase(self, thing: Message, now: datetime) -> None:
        delete_message(thing, now)

    def private(self, request: HttpRequest, thing: Message) -> dict[str, Any]:
        return super().private(request, thing) | {
            "replies": thing.replies.all(),
            "memories": Memory.objects.filter(Q(message=thing) | Q(sources=thing)).distinct(),
        }
