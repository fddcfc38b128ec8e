"""What people were told beside any companion's voice, and how long they have talked."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from safety.models import Notice, Together
from safety.private_admin import PrivateAdmin, moment


@admin.register(Notice)
class NoticeAdmin(PrivateAdmin):
    """A proof that somebody was told."""

    owner_path = "user"
    search_ids = ("pk", "user")
    list_display: Any = (
        *("short_id", "owner", "kind", "minutes"),
        *(moment("made_at", _("made")), moment("seen_at", _("seen"))),
    )
    list_filter = ("kind", ("seen_at", admin.EmptyFieldListFilter), "made_at")
    fields = ("id", "owner", "kind", "minutes", "made_at", "seen_at")


@admin.register(Together)
class TogetherAdmin(PrivateAdmin):
    """How long somebody has been talking without a pause."""

    owner_path = "user"
    search_ids = ("pk",)
    list_display: Any = (
        *("short_id", "owner", moment("begun_at", _("since")), moment("last_at", _("last said"))),
        moment("told_at", _("last told of a break")),
    )
    list_filter = ("last_at",)
    ordering = ("-last_at",)
    fields = ("owner", "begun_at", "last_at", "told_at", "ai_told_on")
