from typing import Any

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from companions.models import Conversation, Message, Session
from safety.admin import PrivateAdmin, link_to, moment

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
