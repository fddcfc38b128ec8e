from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from companions.deletion import delete_message
from companions.models import Message, Reply
from memory.models import Memory
from safety.admin import PrivateAdmin, link_to, marks, moment


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
