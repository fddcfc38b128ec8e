"""Operators' pages of the earlier talk that people bring as files."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from companions.models import PastImport, PastUpload
from safety.admin import PrivateAdmin, moment


@admin.register(PastUpload)
class PastUploadAdmin(PrivateAdmin):
    """A file that somebody looks at."""

    owner_path = "user"
    words = ("name",)
    search_ids = ("pk", "file")
    list_display = ("page", "owner", "form", moment("created_at", _("given")))
    fields = ("id", "owner", "form", "created_at")


@admin.register(PastImport)
class PastImportAdmin(PrivateAdmin):
    """Talk that came from a file, and how far it is learnt from."""

    words = ("titles", "person", "pattern")
    search_ids = ("pk", "companion", "job")
    list_display = (
        *("page", "owner", "of_companion", "form", "state", "learning", "messages_count"),
        moment("created_at", _("began")),
    )
    list_filter = ("state", "learning", "created_at")
    fields = (
        *("id", "owner", "of_companion", "form", "state", "error", "attempts", "look_at"),
        *("messages_count", "skipped_count", "first_at", "last_at"),
        *("learning", "nightly_tokens", "tokens_spent", "night_of", "asked_at", "created_at", "ended_at"),
    )
