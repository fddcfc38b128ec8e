"""What is always in mind, for operators."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memory.models import Block, Slot
from safety.admin import PrivateAdmin, moment


class InMindAdmin(PrivateAdmin):
    """A named text, and the messages that it comes from."""

    annotations = {"length": Length("text")}
    words: ClassVar[tuple[str, ...]] = ("name", "text")
    ordering = ("-changed_at", "-pk")
    list_filter: ClassVar[tuple[str, ...]] = ("by", "changed_at")
    private_template = "admin/memory/in_mind.html"

    @admin.display(description=_("characters"), ordering="length")
    def length(self, thing: Any) -> int:
        return int(thing.length)

    def private(self, request: HttpRequest, thing: Slot | Block) -> dict[str, Any]:
        return super().private(request, thing) | {"sources": thing.sources.order_by("said_at")}


@admin.register(Slot)
class SlotAdmin(InMindAdmin):
    """A named fact that is always in the prompt."""

    list_display = ("id", "owner", "of_companion", "length", "by", moment("changed_at", _("changed")))
    fields = ("id", "owner", "of_companion", "by", "changed_at")


@admin.register(Block)
class BlockAdmin(InMindAdmin):
    """A named text that is always in the prompt."""

    words = ("name", "description", "text")
    list_display = (
        *("id", "owner", "of_companion", "length", "most_characters", "is_read_only", "by"),
        moment("changed_at", _("changed")),
    )
    list_filter = ("by", "is_read_only", "changed_at")
    fields = ("id", "owner", "of_companion", "most_characters", "is_read_only", "by", "changed_at")
