"""The admin of pasts: earlier talk that users upload as files."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from companions.models import PastImport, PastUpload
from safety.admin import PrivateAdmin, moment


@admin.register(PastUpload)
class PastUploadAdmin(PrivateAdmin):
    """An uploaded past, which is being looked at before an import."""

    owner_path = "user"
    words = ("name",)
    search_ids = ("pk", "file")
    list_display = ("page", "owner", "form", moment("created_at", _("uploaded")))
    fields = ("id", "owner", "form", "created_at")


@admin.register(PastImport)
class PastImportAdmin(PrivateAdmin):
    """An import of a past: its progress, and how far Kith has learnt from it."""

    words = ("titles", "person", "pattern")
    search_ids = ("pk", "companion", "job")
    list_display = (
        *("page", "owner", "of_companion", "form", "state", "learning", "messages_count"),
        moment("created_at", _("started")),
    )
    list_filter = ("state", "learning", "created_at")
    fields = (
        *(
            "id",
            "owner",
            "of_companion",
            "form",
            "state",
            "error",
            "attempts",
            moment("look_at", _("next attempt")),
        ),
        *("messages_count", "skipped_count", "first_at", "last_at"),
        *("learning", "nightly_tokens", "tokens_spent", "night_of", "asked_at", "created_at", "ended_at"),
    )
