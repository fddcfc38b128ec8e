"""Replies with their traces, and prompts."""

from typing import Any

from django.contrib import admin
from django.db.models import F
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from companions.admin import trace
from companions.models import Prompt, Reply
from companions.replies.frames import describe_failure
from memory.emotion import Emotion
from safety.admin import PrivateAdmin, link_to, moment

COLOURS = {
    Reply.State.DONE: "success",
    Reply.State.FAILED: "danger",
    Reply.State.INTERRUPTED: "warning",
    Reply.State.STOPPED: "info",
}


@admin.register(Reply)
class ReplyAdmin(PrivateAdmin):
    """An answer and its whole trace: what was sent, recalled, called, thought and answered, and how long each took."""

    annotations = {
        "wait": F("first_piece_at") - F("created_at"),
        "span": F("ended_at") - F("created_at"),
    }
    list_display = (
        *("short_id", "owner", "of_companion", "shown_state", "code"),
        *(moment("created_at", _("asked")), "first_piece", "took"),
    )
    list_filter = ("state", "code", "created_at", "template")
    search_ids = ("pk", "companion", "message", "answer")
    fields = (
        *("id", "owner", "of_companion", "state", "code", "continues", "template", "seq"),
        *("lease_by", "lease_at", "is_stop_asked"),
    )
    private_template = "admin/companions/reply.html"

    @display(description=_("state"), ordering="state", label=COLOURS)  # type: ignore[untyped-decorator]
    def shown_state(self, reply: Reply) -> tuple[str, str]:
        return reply.state, reply.get_state_display()

    @admin.display(description=_("first (ms)"), ordering="wait")
    def first_piece(self, reply: Any) -> int | None:
        return round(reply.wait.total_seconds() * 1000) if reply.wait else None

    @admin.display(description=_("took (ms)"), ordering="span")
    def took(self, reply: Any) -> int | None:
        return round(reply.span.total_seconds() * 1000) if reply.span else None

    def private(self, request: HttpRequest, thing: Reply) -> dict[str, Any]:
        rounds = trace.rounds(thing)
        return {
            "reply": thing,
            "rounds": rounds,
            "recalls": trace.recalls(thing),
            "tools_used": trace.tools_used(thing),
            "stretches": trace.stretches(thing),
            "felt": [(Emotion(emotion["emotion"]).label, emotion) for emotion in thing.emotions],
            "tokens": trace.tokens([round.call for round in rounds]),
            "told": describe_failure(thing.code) if thing.code else "",
        }


@admin.register(Prompt)
class PromptAdmin(PrivateAdmin):
    """What was sent to a model, as sent."""

    annotations = {"shown_count": F("shown__len")}
    list_display = (
        "id",
        "owner",
        "of_companion",
        "of_reply",
        "round",
        "shown_count",
        moment("created_at", _("sent")),
    )
    list_filter = ("round", "created_at")
    search_ids = ("pk", "companion", "reply")
    ordering = ("-created_at",)
    fields = ("id", "owner", "of_companion", "reply", "round", "shown_count", "created_at")
    private_template = "admin/companions/prompt.html"

    @admin.display(description=_("reply"))
    def of_reply(self, prompt: Prompt) -> str:
        return link_to("companions.reply", prompt.reply_id)

    @admin.display(description=_("things shown"), ordering="shown_count")
    def shown_count(self, prompt: Any) -> int:
        return prompt.shown_count or 0

    def private(self, request: HttpRequest, thing: Prompt) -> dict[str, Any]:
        return {"lines": trace.lines(thing.messages), "tools": trace.pretty(thing.tools)}
