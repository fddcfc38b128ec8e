"""The admin of companions, their jobs, portraits and pictures, and the deletion of memories."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import F, Model, OuterRef, Subquery
from django.db.models.functions import Length
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import ModelCall
from companions.deletion import forget
from companions.models import (
    CharacterVersion,
    Closing,
    Companion,
    Conversation,
    Delivery,
    ForgetProposal,
    InnerState,
    Job,
    Life,
    Message,
    Mind,
    Picture,
    Portrait,
    Prompt,
    Reply,
    Session,
    Timer,
    Waking,
)
from companions.models.companion import CHARACTER_FIELDS
from memory.admin.memories import MemoryAdmin, describe_policy
from memory.models import (
    Block,
    Consolidation,
    DiaryEntry,
    Document,
    Learning,
    Memory,
    Pursuit,
    Recall,
    Retraction,
    Revision,
    Slot,
    Thread,
)
from safety.admin import PrivateAdmin, code_column, describe_name, link, may_open, moment

BELOW: tuple[type[Model], ...] = (
    *(Conversation, Message, Session, Closing, Reply, Prompt, ModelCall, Mind, CharacterVersion),
    *(Life, Timer, Waking, InnerState, Delivery, ForgetProposal, Retraction),
    *(Memory, Recall, DiaryEntry, Revision, Slot, Block, Pursuit, Thread, Document, Learning, Consolidation),
)
POLICY = code_column("recall_policy", _("scoring policy"), describe_policy)


@admin.register(Companion)
class CompanionAdmin(PrivateAdmin):
    """A companion with its persona, and links to the lists of its messages, replies, memories and so on."""

    named_by = "name"
    owner_path = "user"
    search_ids = ("pk",)
    words = tuple(name for name in CHARACTER_FIELDS if not name.startswith("depth_prompt_"))
    annotations = {
        "own_name": F("name"),
        "last_said_at": Subquery(
            Message.everywhere.filter(companion=OuterRef("pk"))
            .order_by("-said_at", "-id")
            .values("said_at")[:1]
        ),
    }
    list_display = (
        "called",
        "owner",
        moment("last_said_at", _("last message")),
        POLICY,
        moment("created_at", _("created")),
    )
    list_filter = ("recall_policy", "created_at")
    fields = ("id", "owner", "tint", "recall_policy", "idle_hours", "created_at")
    private_template = "admin/companions/companion.html"

    @admin.display(description=_("name"), ordering="own_name")
    def called(self, companion: Any) -> str:
        return describe_name(companion.own_name)

    def private(self, request: HttpRequest, thing: Companion) -> dict[str, Any]:
        below = [
            {
                "title": model._meta.verbose_name_plural,
                "link": reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist"),
                "count": model._base_manager.filter(companion=thing).count(),
            }
            for model in BELOW
            if may_open(request, model)
        ]
        return super().private(request, thing) | {"below": below}


@admin.register(Job)
class JobAdmin(PrivateAdmin):
    """A background job of the API. Its error counts as private, since it may quote what was sent."""

    named_by = "created_at"
    words = ("error",)
    annotations = {"error_length": Length("error")}
    list_display = (
        moment("created_at", _("requested")),
        "owner",
        "of_companion",
        "kind",
        "total",
        "has_failed",
    )
    list_filter = ("kind", "created_at")
    fields = ("id", "owner", "of_companion", "kind", "total", "created_at")

    @admin.display(description=_("failed"), ordering="error_length")
    def has_failed(self, job: Any) -> str:
        return gettext("Yes") if job.error_length else "–"  # a sign for no would look like a failure


@admin.register(Portrait)
class PortraitAdmin(PrivateAdmin):
    """The seed and the chosen features of a companion's drawn face."""

    words = ("chosen",)
    titled_by = "companion_called"
    search_ids = ("pk",)
    list_display = ("page", "owner", "of_companion", "seed")
    ordering = ("-pk",)
    fields = ("owner", "of_companion", "seed")


@admin.register(Picture)
class PictureAdmin(PrivateAdmin):
    """A picture that is shown instead of the portrait."""

    titled_by = "companion_called"
    list_display = ("page", "owner", "of_companion", "emotion", "of_file")
    list_filter = ("emotion",)
    search_ids = ("pk", "companion", "file")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "emotion", "of_file")

    of_file = link("file", _("file"))


@admin.register(Memory)
class ErasableMemoryAdmin(MemoryAdmin):
    """A memory that an operator may delete from every table; its messages are hidden from prompts (see `forget`)."""

    is_erasable = True
    max_selected_rows = 100

    def erase(self, thing: Memory, now: datetime) -> None:
        forget(thing, now)
